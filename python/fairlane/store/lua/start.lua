-- Gives a worker the tasks that it was handed above its cursor, and marks them active.
--
-- Guarantee: the same cursor gets the same answer, so that a lost reply loses nothing. A task whose deadline has passed
--   ends here without a call. While the pool is paused nothing starts; during a ramp no more than its open slots are
--   active; a task in its last life runs alone. Tasks start in the order of their fences, up to the first that must
--   wait; those that wait stay above every cursor.
-- KEYS[1]  the pool
-- ARGV     now_ms, {incarnation, cursor, limit}
-- Reply    {alive, hold_ms|false, more, {{tenant, fence}...} to stop, {{tenant, id, fence, cost, payload, failures,
--          deadline_ms|false}...}}
-- Events   active, expired
--- @include commit
--- @include attempt
--- @include window_place
--- @include ramp
--- @include alone
local incarnation, limit = request.incarnation, request.limit
local changed = false
local hold = false
local tasks = {}

local w = live_worker(incarnation)
if not w then
  return cmsgpack.pack({ false, false, false, {}, {} })
end
-- How long a worker waits when no bell will ring for it.
local a_while = math.max(1, math.floor(pool.lease / 20))

local function must_wait()
  return hold or is_ramping() and pool.active >= open_slots()
end

-- Until the ramp opens the next slot; in steps, so that many workers do not ask for each slot, and so that they find
-- slots freed by attempts that ended.
local function next_step()
  local shortest = math.ceil((pool.ramp_until - pool.ramp_from) / 64)
  local wait = math.max(opens_beyond(pool.active) - now, shortest)
  return math.min(wait, 4 * shortest, pool.ramp_until - now)
end

-- Returns false if the task must wait.
local function start(name, fence)
  local tenant, id = split_name(name)
  local key = task_key(tenant, id)
  local raw = redis.call('HMGET', key, unpack(START_FIELDS))
  local task = read_start(raw)
  local deadline = task.deadline
  if task.state == 'enqueued' then
    if must_wait() then
      return false
    end
    changed = true
    if deadline > 0 and deadline <= now then
      end_unstarted(load_tenant(tenant), load_record(tenant, id), 'expired', 'expired', 'deadline')
      return true
    end
    if is_last_life(task) then
      hold = a_while
      if has_begun(incarnation, fence) then
        return false
      end
      later('HSET', worker_key(incarnation), 'alone', fence)
    end
    pool.active = pool.active + 1
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
  return true
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
elseif tonumber(redis.call('ZSCORE', workers_key, incarnation) or 0) <= now or runs_alone(w, incarnation) then
  -- The lease has run out, and only a heartbeat can renew it; or a task that runs alone has to end first.
  hold = a_while
end

local handed = names_and_fences(owned_key(incarnation), string.format('(%.0f', request.cursor), limit + 1)
local at, last = 1, math.min(#handed, limit)
while at <= last and start(handed[at][1], handed[at][2]) do
  at = at + 1
end
if at <= last then
  hold = hold or next_step()
end
local stopping = names_and_fences(cancelling_key(incarnation), '-inf', 256)
if changed then
  write_stamps()
  commit_draining()
end
return cmsgpack.pack({ true, hold, at > last and #handed > limit, stopping, tasks })
