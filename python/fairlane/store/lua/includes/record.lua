--- @include tenant
-- Copies of tasks.
local to_write = {} -- in order

local function split_name(name)
  local colon = string.find(name, ':', 1, true)
  return string.sub(name, 1, colon - 1), string.sub(name, colon + 1)
end

-- Marks a copy for writing.
local function change_record(record)
  if not record.dirty then
    record.dirty = true
    to_write[#to_write + 1] = record
  end
end

-- Marks its header for writing, too.
local function change_header(record)
  change_record(record)
  record.header = true
end

-- Whether an entry of `flight` has the task's header.
local function has_header(entry)
  return entry and struct.unpack('<d', entry) == 1
end

-- The payload, or the result once the task has ended.
local function body_of(record)
  if not record.body then
    local raw = record.whole or redis.call('GET', task_prefix .. record.name)
    local at = record.whole and record.body_at or raw and read_task('', '', '', raw, raw, 1)[BODY_AT]
    record.body = raw and string.sub(raw, at) or ''
  end
  return record.body
end
