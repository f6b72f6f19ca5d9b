--- @include attempt
-- Taking back what a lost worker held. What it had not started costs nothing; what it may have run counts a
-- recovery and keeps its charge.
local function take_back(t, record)
  if record.state == 'enqueued' then
    give_back(t, record, 'lost', 0)
  elseif record.cancel == 1 then
    end_failed(t, record, 'cancelled', 'cancelled', 0, 'cancelled', 'its worker was lost while it was being cancelled')
  elseif record.deadline > 0 and record.deadline <= now then
    end_failed(t, record, 'expired', 'expired', 0, 'deadline')
  elseif record.unknown == 'fail' then
    end_failed(t, record, 'lost', 'dead', record.cost, 'outcome_unknown', 'its worker was lost after it had started')
  elseif record.recoveries >= pool.max_recoveries then
    end_failed(t, record, 'lost', 'dead', 0, 'workers_lost',
      string.format('lost its worker %.0f times', record.recoveries + 1))
    later('HSET', record.key, 'lost', 1)
  else
    change_tenant(t)
    credit(t)
    free_hold(t, record)
    record.recoveries = record.recoveries + 1
    requeue(t, record, 'counts', pack_counts(record))
    ended(record, 'lost', t, 0, 0, 'pending')
    touch(t)
  end
end
