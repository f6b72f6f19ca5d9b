-- Gives a worker everything it was handed above its cursor, and marks active what is not yet.
--
-- Guarantee: asked again with the same cursor it answers the same, so a lost reply loses nothing. A task whose
--   deadline has passed ends here without a call. While the pool is paused nothing starts.
-- KEYS[1]  the pool
-- ARGV     now_ms, {incarnation, cursor, limit}
-- Reply    {alive, hold_ms|false, more, {{tenant, fence}...} to stop, {{tenant, id, fence, cost, payload, failures,
--          deadline_ms|false}...}}
-- Events   active, expired
--- @include commit
--- @include attempt
--- @include window_place
local asked = request()
local incarnation, cursor, limit = asked[1], asked[2], asked[3]
local changed = false
local hold = false
local tasks = {}

if not live_worker(incarnation) then
  return cmsgpack.pack({ false, false, false, {}, {} })
end

local function start(name, fence)
  local tenant, id = split_name(name)
  local key = task_key(tenant, id)
  local raw = redis.call('HMGET', key, unpack(START_FIELDS))
  local task = read_start(raw)
  local deadline = task.deadline
  if task.state == 'enqueued' then
    if hold then
      return
    end
    changed = true
    if deadline > 0 and deadline <= now then
      end_unstarted(load_tenant(tenant), load_record(tenant, id), 'expired', 'expired', 'deadline')
      return
    end
    later('HSET', key, 'state', 'active', 'started', now)
    local own, shared = task.windows % POOL_BITS, math.floor(task.windows / POOL_BITS)
    if own > 0 then
      stamp_place(tenant, own, task.cost)
    end
    if shared > 0 then
      stamp_place(POOL_OWNER, shared, task.cost)
    end
    event('active', tenant, id, fence)
  end
  tasks[#tasks + 1] = { tenant, id, fence, task.cost, raw[#START_FIELDS], task.failures,
    deadline > 0 and math.max(0, deadline - now) }
end

local function names_and_fences(key, from, count)
  local raw = redis.call('ZRANGEBYSCORE', key, from, '+inf', 'WITHSCORES', 'LIMIT', 0, count)
  local list = {}
  for i = 1, #raw, 2 do
    list[#list + 1] = { raw[i], tonumber(raw[i + 1]) }
  end
  return list
end

if pool.paused_until > now then
  hold = pool.paused_until - now
elseif tonumber(redis.call('ZSCORE', workers_key, incarnation) or 0) <= now then
  -- The lease has run out: only a heartbeat can make it good.
  hold = math.max(1, math.floor(pool.lease / 20))
end

local handed = names_and_fences(owned_key(incarnation), string.format('(%.0f', cursor), limit + 1)
for i = 1, math.min(#handed, limit) do
  start(handed[i][1], handed[i][2])
end
local stopping = names_and_fences(cancelling_key(incarnation), '-inf', 256)
if changed then
  write_stamps()
  commit_draining()
end
return cmsgpack.pack({ true, hold, #handed > limit, stopping, tasks })
