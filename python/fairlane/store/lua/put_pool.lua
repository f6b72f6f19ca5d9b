-- Creates the pool, or changes its settings.
--
-- Guarantee: policy and quantum never change while there are tasks; a refusal writes nothing. A capacity at the hard
--   limit follows it. When a cost limit shrinks, the next dispatches check every parked tenant again.
-- KEYS[1]  the pool
-- ARGV     now_ms, {settings}: all of them by name
-- Reply    '' when done; a refusal is {schema, the stored one}, {busy, field} or {setting, field}
-- Events   capacity
--- @include commit
--- @include bounds
local wanted = request.settings

local function wrong_setting()
  for _, field in ipairs(POOL_SETTINGS) do
    if POOL_BOUNDS[field] and not is_within(wanted[field], POOL_BOUNDS[field]) then
      return field
    end
  end
  return nil
end

local function largest_task()
  return lower(lower(MAX_COST, pool.cost_ceiling), pool.spend_limit)
end

-- Through timers that are due, since a dispatch fires a limited number of them.
local function recheck_parked()
  for _, id in ipairs(redis.call('HKEYS', parked_key)) do
    zadd(timers_key, now, 'window:' .. id)
    ring('dispatcher')
  end
end

local exists = pool.schema ~= 0
if exists and pool.schema ~= wanted.schema then
  return cmsgpack.pack({ 'schema', pool.schema })
elseif wrong_setting() then
  return cmsgpack.pack({ 'setting', wrong_setting() })
elseif pool.live > 0 and pool.policy ~= wanted.policy then
  return cmsgpack.pack({ 'busy', 'policy' })
elseif pool.live > 0 and pool.quantum ~= wanted.quantum then
  return cmsgpack.pack({ 'busy', 'quantum' })
end
local before, largest = pool.capacity, largest_task()
if not exists or before == pool.hard_limit or before > wanted.hard_limit then
  pool.capacity = wanted.hard_limit
end
local starts, spend = pool.starts_interval, pool.spend_interval
for field, value in pairs(wanted) do
  pool[POOL_SLOTS[field]] = value
end
keep_intervals(pool, starts, spend)
if exists and largest_task() < largest then
  recheck_parked()
end
if pool.capacity ~= before then
  event('capacity', before, pool.capacity, 'set')
end
later('HSET', pool_key, 'settings', pack_pool_settings(pool))
stirred = true
commit_draining()
return cmsgpack.pack('')
