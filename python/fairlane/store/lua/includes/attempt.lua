--- @include hold
-- The ends of an attempt, except a completion.
-- The field of a task's record for the usage that was booked for an attempt after its end.
local function late_field(fence)
  return string.format('late:%.0f', fence)
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
local function give_back(t, record, attempt, ready_at, ...)
  if record.deadline > 0 and record.deadline <= now then
    end_unstarted(t, record, 'expired', 'expired', 'deadline')
    return
  end
  change_tenant(t)
  free_hold(t, record)
  if ready_at > 0 then
    set_aside(t, record, ready_at, ...)
  else
    requeue(t, record, ...)
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
