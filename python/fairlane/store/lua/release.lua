-- Hands attempts back: the task returns to its place in the queue, and no failure is counted. A call that was under way
--   is charged its reported usage; a task that must not be repeated when its outcome is unknown ends.
--
-- Guarantee: as settle.
-- KEYS[1]  the pool
-- ARGV     now_ms, {incarnation, {{tenant, id, fence, called, actual}...}}
-- Reply    {write...} in the order asked
-- Events   returned, cancelled, expired, lost; late: usage of an attempt that was already taken away
--- @include commit
--- @include claim
--- @include late

-- Ends an attempt whose call was interrupted.
local function break_off(t, record, actual)
  if record.cancel == 1 then
    end_failed(t, record, 'cancelled', 'cancelled', actual, 'cancelled')
  elseif record.deadline > 0 and record.deadline <= now then
    end_failed(t, record, 'expired', 'expired', actual, 'deadline')
  elseif record.unknown == 1 then
    end_failed(t, record, 'lost', 'dead', actual > 0 and actual or record.cost, 'outcome_unknown',
      'its worker stopped while it ran')
  else
    change_tenant(t)
    free_hold(t, record)
    capture(t, record, actual)
    note_usage(record, record.fence, 0)
    requeue(t, record)
    ended(record, 'returned', t, actual, 'pending')
    touch(t)
  end
end

return answer_writes(function(item)
  local record, refusal = claim(item, TAKES_HANDED)
  return record, refusal, refusal == 'stale' and book_late(item)
end, function(t, record, item)
  local actual = item.actual
  if item.called and (actual > 0 or record.unknown == 1) then
    break_off(t, record, actual)
  elseif record.cancel == 1 then
    end_unstarted(t, record, 'cancelled', 'cancelled', 'cancelled')
  else
    give_back(t, record, 'returned', 0)
  end
end)
