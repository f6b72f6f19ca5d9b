--- @include record
-- Tasks. A record is a header and a body: the payload, later the result. While a task is in flight its entry in `flight` has
-- the attempt, and once it is active a copy of the header, so that it can end without its record being read.
local records = {} -- tenant:id -> copy, or false

local function keep_record(tenant, id, name, entry, raw)
  local record
  if entry then
    local active, fence, charge, period, windows, cancel, started, worker, at = read_attempt(entry)
    if active == 1 then
      record = read_task(tenant, id, name, false, entry, at)
      record.state = 'active'
    elseif raw then
      record = read_task(tenant, id, name, raw, raw, 1)
      record.state = 'enqueued'
    end
    if record then
      record.fence, record.charge, record.period, record.windows = fence, charge, period, windows
      record.cancel, record.started, record.worker, record.flying = cancel, started, worker, true
    end
  else
    record = raw and read_task(tenant, id, name, raw, raw, 1)
  end
  records[name] = record or false
end

-- Loads those of these tasks that the call has not loaded yet.
local function load_records(refs)
  local names, of = {}, {}
  for _, ref in ipairs(refs) do
    local name = ref.tenant .. ':' .. ref.id
    if records[name] == nil then
      records[name] = false
      names[#names + 1], of[#of + 1] = name, ref
    end
  end
  if not names[1] then
    return
  end
  local entries = redis.call('HMGET', flight_key, unpack(names))
  local keys, raw = {}, {}
  for i, name in ipairs(names) do
    if not has_header(entries[i]) then
      keys[#keys + 1] = task_prefix .. name
    end
  end
  if keys[1] then
    raw = redis.call('MGET', unpack(keys))
  end
  local at = 0
  for i, ref in ipairs(of) do
    if has_header(entries[i]) then
      keep_record(ref.tenant, ref.id, names[i], entries[i])
    else
      at = at + 1
      keep_record(ref.tenant, ref.id, names[i], entries[i], raw[at])
    end
  end
end

-- A copy, or nil if there is no such task.
local function load_record(tenant, id)
  if records[tenant .. ':' .. id] == nil then
    load_records({ { tenant, id } })
  end
  return records[tenant .. ':' .. id] or nil
end
