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
--- @include attempts
--- @include stopping
local incarnation, limit = request.incarnation, request.limit
local changed = false
local taken = 0 -- tasks that were handed over and no longer are
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

-- Activates a task that was handed over. Returns false if it must wait.
local function begin(record)
  if must_wait() then
    return false
  end
  changed = true
  if record.deadline > 0 and record.deadline <= now then
    taken = taken + 1
    end_unstarted(load_tenant(record.tenant), record, 'expired', 'expired', 'deadline')
    return true
  end
  if is_last_life(record) then
    hold = a_while
    if w.load - redis.call('ZCARD', handed_key(incarnation)) + taken > 0 then
      return false
    end
    w.alone, w.dirty = record.fence, true
  end
  taken = taken + 1
  pool.active = pool.active + 1
  zrem(handed_key(incarnation), record.name)
  record.state, record.started = 'active', now
  w.last, w.dirty = record.fence, true
  change_record(record)
  local own, shared = record.windows % POOL_BITS, math.floor(record.windows / POOL_BITS)
  if own > 0 then
    stamp_place(record.tenant, own, record.cost)
  end
  if shared > 0 then
    stamp_place(POOL_OWNER, shared, record.cost)
  end
  event('active', record.tenant, record.id, record.fence)
  return true
end

local function show(record)
  tasks[#tasks + 1] = { record.tenant, record.id, record.fence, record.cost, body_of(record), record.failures,
    record.deadline > 0 and math.max(0, record.deadline - now) }
end

-- Active tasks above the cursor: the reply that had them was lost.
local function repeat_reply()
  for i, attempt in ipairs(attempts_of(incarnation, request.cursor)) do
    local record = i <= limit and load_record(split_name(attempt.name))
    if record and record.state == 'active' then
      show(record)
    end
  end
end

-- Returns whether more are waiting that may begin.
local function begin_handed(room)
  local names = redis.call('ZRANGE', handed_key(incarnation), 0, room)
  local refs = {}
  for i = 1, math.min(#names, room) do
    refs[i] = { split_name(names[i]) }
  end
  load_records(refs)
  for _, ref in ipairs(refs) do
    local record = load_record(ref.tenant, ref.id)
    if record and record.state == 'enqueued' then
      if not begin(record) then
        hold = hold or next_step()
        return false
      end
      if record.state == 'active' then
        show(record)
      end
    end
  end
  return #names > room
end

if pool.paused_until > now then
  hold = pool.paused_until - now
elseif tonumber(redis.call('ZSCORE', workers_key, incarnation) or 0) <= now or w.alone > 0 then
  -- The lease has run out, and only a heartbeat can renew it; or a task that runs alone has to end first.
  hold = a_while
end

if request.cursor < w.last then
  repeat_reply()
end
local more = begin_handed(limit - #tasks)
if changed then
  write_stamps()
  commit_draining()
end
return cmsgpack.pack({ true, hold, more, stopping(incarnation), tasks })
