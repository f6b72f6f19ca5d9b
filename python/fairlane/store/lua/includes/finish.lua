--- @include task
-- Ends a task: its record gets a TTL, its caller's id a tombstone, its waiting client an entry and a bell.
local function finish(record, state, actual, result, code, message)
  move(record, state, 'end', cmsgpack.pack(now, actual, code or '', message or ''), 'result', result or '', 'payload', '')
  later('PEXPIRE', record.key, pool.retention)
  if record.keep == 1 and pool.idempotency > 0 then
    later('SET', tombstone_key(record.tenant, record.id), redis.call('HGET', record.key, 'fingerprint') .. state, 'PX',
      pool.retention + pool.idempotency)
  end
  if record.deadline > 0 then
    zrem(timers_key, 'deadline:' .. name_of(record))
  end
  if record.client ~= '' then
    local key = done_key(record.client)
    zadd(key, next_sequence(), name_of(record))
    if not bells['client:' .. record.client] then
      later('PEXPIRE', key, pool.retention)
      ring('client:' .. record.client)
    end
  end
  pool.live = pool.live - 1
end
