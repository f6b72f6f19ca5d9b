-- Ends attempts that ran: the hold is freed, fairness corrected, the result kept, the waiting client told.
--
-- Guarantee: an attempt is settled once; again by the same worker is answered `repeated`, by any other `stale`, and
--   neither changes anything, except that usage of an attempt that was taken away is booked once.
-- KEYS[1]  the pool
-- ARGV     now_ms, {incarnation, {tenant, id, fence, outcome, actual, result, code, error, backoff_ms}...}
-- Reply    {write...} in the order asked
-- Events   completed, failed, expired, cancelled; late: usage of an attempt that was already taken away
--- @include commit
--- @include settlement
--- @include claim
--- @include late
local asked = request()
local incarnation = asked[1]

local function fail(t, record, item)
  record.failures = record.failures + 1
  local actual, code, message = item[5], item[7], item[8]
  later('HSET', record.key, 'counts', pack_counts(record))
  if record.cancel == 1 then
    end_failed(t, record, 'cancelled', 'cancelled', actual, 'cancelled')
  elseif record.failures >= pool.max_attempts then
    end_failed(t, record, 'failed', 'failed', actual, code, message)
  elseif record.deadline > 0 and record.deadline <= now + item[9] then
    end_failed(t, record, 'failed', 'expired', actual, 'deadline', message)
  else
    change_tenant(t)
    credit(t)
    free_hold(t, record)
    capture(t, record, actual)
    later('HSET', record.key, late_field(record.fence), 0)
    local why = cmsgpack.pack(0, actual, code, message)
    local ready_at = item[9] > 0 and now + item[9] or 0
    if ready_at > 0 then
      set_aside(t, record, ready_at, 'end', why)
    else
      requeue(t, record, 'end', why)
    end
    ended(record, 'failed', t, actual, 0, 'pending', ready_at)
    touch(t)
  end
end

local function settle(t, record, item)
  local outcome, actual = item[4], item[5]
  if outcome == 'completed' then
    end_completed(t, record, actual, item[6], item[7])
  elseif outcome == 'failed' then
    fail(t, record, item)
  elseif outcome == 'refused' then
    end_failed(t, record, 'failed', 'failed', actual, item[7], item[8])
  else
    end_failed(t, record, outcome, outcome, actual, item[7], item[8])
  end
end

return answer_writes(asked, function(item)
  local record, refusal = claim(incarnation, item, TAKES_ACTIVE)
  return record, refusal, refusal == 'stale' and book_late(incarnation, item)
end, settle)
