--- @include task
-- The writes of a call's tasks, and of the ends that their clients wait for.
local admitted = {}   -- keys and records of new tasks
local flights = {}    -- entries to set: name, entry...
local landed = {}     -- names to delete
local ends = {}       -- client -> {ends...}

local function header_end(raw)
  local record = read_task('', '', '', raw, raw, 1)
  return record.body_at
end

local function body_of(record)
  if not record.body then
    local raw = record.whole or redis.call('GET', task_prefix .. record.name) or ''
    record.body = string.sub(raw, record.whole and record.body_at or header_end(raw))
  end
  return record.body
end

local function notify(record, data)
  local list = ends[record.client]
  if not list then
    list = {}
    ends[record.client] = list
  end
  data = #data <= LARGEST_END and data or ''
  list[#list + 1] = struct.pack('<HI4', #record.name, #data) .. record.name .. data
end

local function write_record(record)
  local data = pack_header(record) .. body_of(record)
  if record.ended == 0 then
    redis.call('SET', task_prefix .. record.name, data)
    return
  end
  redis.call('SET', task_prefix .. record.name, data, 'PX', pool.retention)
  if record.client ~= '' then
    notify(record, data)
  end
end

local function write_tasks()
  if admitted[1] then
    redis.call('MSET', unpack(admitted))
  end
  for _, record in ipairs(to_write) do
    if record.header then
      write_record(record)
    end
    if record.state == 'enqueued' or record.state == 'active' then
      flights[#flights + 1] = record.name
      flights[#flights + 1] = pack_attempt(record) .. (record.state == 'active' and pack_header(record) or '')
    elseif record.flying then
      landed[#landed + 1] = record.name
    end
  end
  call_with_list('HDEL', flight_key, landed)
  call_with_list('HSET', flight_key, flights)
  for client, list in pairs(ends) do
    local key = done_key(client)
    redis.call('XADD', key, '*', 'ends', table.concat(list))
    redis.call('PEXPIRE', key, pool.retention)
    ring('client:' .. client)
  end
end
