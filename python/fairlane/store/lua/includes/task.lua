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
