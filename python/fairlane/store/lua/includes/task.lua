--- @include context
-- One task's record.
local records = {}

local function load_record(tenant, id)
  local key = task_key(tenant, id)
  local record = records[key]
  if record ~= nil then
    return record or nil
  end
  local raw = redis.call('HMGET', key, unpack(MOVE_FIELDS))
  if not raw[1] then
    records[key] = false
    return nil
  end
  record = read_task(raw)
  record.tenant, record.id, record.key = tenant, id, key
  records[key] = record
  return record
end

local function member_of(record)
  return record.cost .. ':' .. record.id
end

local function name_of(record)
  return record.tenant .. ':' .. record.id
end

local function split_name(name)
  local colon = string.find(name, ':', 1, true)
  return string.sub(name, 1, colon - 1), string.sub(name, colon + 1)
end

-- Moves a record and stores fields with it; the table of moves is the one in fairlane.domain.task.
local function move(record, state, ...)
  if not TASK_MOVES[record.state][state] then
    error('fairlane: ' .. name_of(record) .. ' cannot move from ' .. record.state .. ' to ' .. state)
  end
  record.state = state
  later('HSET', record.key, 'state', state, ...)
end

-- Ends a task: its record gets a TTL, its caller's id a tombstone, its waiting client a note.
local function finish(record, state, actual, result, code, message)
  move(record, state, 'end', cmsgpack.pack({ now, actual, code or '', message or '' }), 'result', result or '', 'payload', '')
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
