--- @include settlement
--- @include claim
--- @include late
-- What an attempt's outcome does to its task.
local function fail(t, record, item)
  record.failures = record.failures + 1
  local actual, code, message, backoff = item.actual, item.error_code, item.error, item.backoff_ms
  if record.cancel == 1 then
    end_failed(t, record, 'cancelled', 'cancelled', actual, 'cancelled')
  elseif record.failures >= pool.max_attempts then
    end_failed(t, record, 'failed', 'failed', actual, code, message)
  elseif record.deadline > 0 and record.deadline <= now + backoff then
    end_failed(t, record, 'failed', 'expired', actual, 'deadline', message)
  else
    change_tenant(t)
    free_hold(t, record)
    capture(t, record, actual)
    note_usage(record, record.fence, 0)
    record.actual, record.code, record.error = actual, code, message
    local ready_at = backoff > 0 and now + backoff or 0
    if ready_at > 0 then
      set_aside(t, record, ready_at)
    else
      requeue(t, record)
    end
    ended(record, 'failed', t, actual, 'pending', ready_at)
    touch(t)
  end
end

local function settle(t, record, item)
  local outcome, actual = item.outcome, item.actual
  if outcome == 'completed' then
    end_completed(t, record, actual, item.result, item.error_code)
  elseif outcome == 'failed' then
    fail(t, record, item)
  elseif outcome == 'refused' then
    end_failed(t, record, 'failed', 'failed', actual, item.error_code, item.error)
  else
    end_failed(t, record, outcome, outcome, actual, item.error_code, item.error)
  end
end

local function claim_active(item)
  local record, refusal = claim(item, TAKES_ACTIVE)
  return record, refusal, refusal == 'stale' and book_late(item)
end
