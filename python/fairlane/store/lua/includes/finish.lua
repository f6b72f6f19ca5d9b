--- @include task
-- Ends a task: its record gets a TTL, its caller's id a tombstone, its waiting client an entry and a bell.
local function finish(record, state, actual, result, code, message)
  record.state, record.ended, record.actual = state, now, actual
  record.body, record.code, record.error = result or '', code or '', message or ''
  change_header(record)
  if record.keep == 1 and pool.idempotency > 0 then
    later('SET', tombstone_key(record.tenant, record.id),
      struct.pack('<d', record.score % PRIORITY_STEP) .. record.fingerprint .. state, 'PX', pool.retention + pool.idempotency)
  end
  if record.booked == 1 then
    later('PEXPIRE', usage_key(record.tenant, record.id), pool.retention)
  end
  if record.deadline > 0 then
    zrem(timers_key, 'deadline:' .. record.name)
  end
  pool.live = pool.live - 1
end
