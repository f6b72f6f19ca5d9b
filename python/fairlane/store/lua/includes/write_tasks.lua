--- @include task
-- The writes of a call's tasks, and of the ends that their clients wait for.
local admitted = {}   -- keys and records of new tasks
local flights = {}    -- entries to set: name, entry...
local landed = {}     -- names to delete
local ends = {}       -- client -> {ends...}

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

-- What an attempt changes in the header is in its entry before it, so the stored header will do.
local function header_of(record)
  if record.whole and not record.header then
    return string.sub(record.whole, 1, record.body_at - 1)
  end
  return pack_header(record)
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
      flights[#flights + 1] = pack_attempt(record) .. (record.state == 'active' and header_of(record) or '')
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
