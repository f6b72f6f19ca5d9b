-- Creates the pool, or changes its settings.
--
-- Guarantee: policy and quantum never change under tasks that were placed by the old ones; a refusal writes nothing.
--   A capacity that stood at the hard limit follows it. When a limit of cost shrinks, who is parked is looked at again.
-- KEYS[1]  the pool
-- ARGV     now_ms, {field, value, ...} all settings
-- Reply    '' when done, or why not: {schema, the stored one}, {busy, field}, or {setting, field}
-- Events   capacity
--- @include commit
--- @include bounds
local settings = request()
local wanted = {}
for i = 1, #settings, 2 do
  wanted[settings[i]] = settings[i + 1]
end

local function wrong_setting()
  for _, field in ipairs(POOL_FIELDS) do
    if POOL_BOUNDS[field] and not is_within(wanted[field], POOL_BOUNDS[field]) then
      return field
    end
  end
  return nil
end

local function largest_task()
  return lower(lower(pool.max_cost, pool.cost_ceiling), pool.spend_limit)
end

-- By due timers: a dispatch fires so many of them and no more.
local function look_at_parked()
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
  pool[field] = value
end
keep_intervals(pool, starts, spend)
if exists and largest_task() < largest then
  look_at_parked()
end
if pool.capacity ~= before then
  event('capacity', before, pool.capacity, 'set')
end
later('HSET', pool_key, 'settings', pack_pool_settings(pool))
stirred = true
commit_growing()
return cmsgpack.pack('')
