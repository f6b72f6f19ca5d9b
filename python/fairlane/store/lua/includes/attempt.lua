--- @include hold
-- The ends of an attempt, except a completion.
-- Notes that usage which is reported for this attempt later may be booked, or how much was booked.
local function note_usage(record, fence, actual)
  later('HSET', usage_key(record.tenant, record.id), fence, actual)
  if record.ended > 0 then
    later('PEXPIRE', usage_key(record.tenant, record.id), pool.retention)
  elseif record.booked == 0 then
    record.booked = 1
    change_header(record)
  end
end

local function has_usage(record, fence)
  return (record.booked == 1 or record.ended > 0) and redis.call('HEXISTS', usage_key(record.tenant, record.id), fence) == 1
end

-- Ends an attempt before it ran, and the task with it.
local function end_unstarted(t, record, attempt, state, code, message)
  change_tenant(t)
  free_hold(t, record)
  correct(t, record.charge, 0)
  ended(record, attempt, t, 0, state)
  touch(t)
  finish(record, state, 0, '', code, message)
end

-- Ends an unfinished attempt and returns its charge; the task waits again. ready_at 0: in the queue at once.
local function give_back(t, record, attempt, ready_at)
  if record.deadline > 0 and record.deadline <= now then
    end_unstarted(t, record, 'expired', 'expired', 'deadline')
    return
  end
  change_tenant(t)
  free_hold(t, record)
  if ready_at > 0 then
    set_aside(t, record, ready_at)
  else
    requeue(t, record)
    touch(t) -- only a tenant in the calendar keeps all of a refund
  end
  correct(t, record.charge, 0)
  ended(record, attempt, t, 0, 'pending', ready_at)
  touch(t)
end

-- Ends an attempt that ran without a good result. Nothing is corrected: failing must not be cheaper than succeeding.
local function end_failed(t, record, attempt, state, actual, code, message)
  change_tenant(t)
  free_hold(t, record)
  capture(t, record, actual)
  ended(record, attempt, t, actual, state)
  touch(t)
  finish(record, state, actual, '', code, message)
end
