--- @include attempt
-- Takes back the tasks of a lost worker. An attempt that had not started costs nothing; one that may have run counts a
-- recovery and keeps its charge. Its usage is booked when the worker reports it; for a task that must not be repeated
-- when its outcome is unknown, the estimate is booked at once.
local function end_lost(t, record, attempt, state, code, message)
  if record.unknown == 1 then
    local reported = has_usage(record, record.fence)
    end_failed(t, record, attempt, state, reported and 0 or record.cost, code, message)
  else
    record.lost = record.fence
    end_failed(t, record, attempt, state, 0, code, message)
  end
end

local function take_back(t, record)
  if record.state == 'enqueued' then
    give_back(t, record, 'lost', 0)
  elseif record.cancel == 1 then
    end_lost(t, record, 'cancelled', 'cancelled', 'cancelled', 'its worker was lost while it was being cancelled')
  elseif record.deadline > 0 and record.deadline <= now then
    end_lost(t, record, 'expired', 'expired', 'deadline')
  elseif record.unknown == 1 then
    end_lost(t, record, 'lost', 'dead', 'outcome_unknown', 'its worker was lost after it had started')
  elseif record.recoveries >= pool.max_recoveries then
    end_lost(t, record, 'lost', 'dead', 'workers_lost',
      string.format('lost its worker %.0f times', record.recoveries + 1))
  else
    change_tenant(t)
    free_hold(t, record)
    record.recoveries, record.lost = record.recoveries + 1, record.fence
    requeue(t, record)
    ended(record, 'lost', t, 0, 'pending')
    touch(t)
  end
end
