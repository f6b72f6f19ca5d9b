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
--- @include activation
--- @include attempts
--- @include stopping
local limit = request.limit
local tasks = {}

if not w then
  return cmsgpack.pack({ false, false, false, {}, {} })
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
  local names = redis.call('ZRANGE', handed, 0, room)
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
if begun then
  write_stamps()
  commit_draining()
end
return cmsgpack.pack({ true, hold, more, stopping(incarnation), tasks })
