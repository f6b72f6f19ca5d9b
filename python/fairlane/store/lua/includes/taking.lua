--- @include activation
--- @include attempts
--- @include stopping
-- The tasks that a worker takes in one call.
local tasks = {}

local function show(record)
  tasks[#tasks + 1] = { record.tenant, record.id, record.fence, record.cost, body_of(record), record.failures,
    record.deadline > 0 and math.max(0, record.deadline - now) }
end

-- Active tasks above the cursor: the reply that had them was lost.
local function repeat_reply()
  for i, attempt in ipairs(attempts_of(incarnation, request.cursor)) do
    local record = i <= request.limit and load_record(split_name(attempt.name))
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

-- Begins what was handed over and may begin. Returns whether more are waiting that may begin.
local function take_handed()
  if pool.paused_until > now then
    hold = pool.paused_until - now
  elseif tonumber(redis.call('ZSCORE', workers_key, incarnation) or 0) <= now or w.alone > 0 then
    -- The lease has run out, and only a heartbeat can renew it; or a task that runs alone has to end first.
    hold = a_while
  end
  if request.cursor < w.last then
    repeat_reply()
  end
  return begin_handed(request.limit - #tasks)
end

local function answer_start(more)
  if not w then
    return { false, false, false, {}, {} }
  end
  return { true, hold, more, stopping(incarnation), tasks }
end
