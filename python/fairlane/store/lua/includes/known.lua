--- @include former
--- @include task
-- Which tasks of a batch the store knows.
local fresh = {} -- key -> fingerprint of a task that this call has admitted

local function tombstones()
  local keys, of = {}, {}
  for i, item in ipairs(request.items) do
    if item.named_by_caller then
      keys[#keys + 1] = tombstone_key(item.tenant, item.id)
      of[i] = #keys
    end
  end
  if #keys == 0 then
    return of
  end
  local found = redis.call('MGET', unpack(keys))
  for i, at in pairs(of) do
    of[i] = found[at] or nil
  end
  return of
end

local keys = {}

local function some_exist()
  for i, item in ipairs(request.items) do
    keys[i] = task_prefix .. item.tenant .. ':' .. item.id
  end
  return keys[1] and redis.call('EXISTS', unpack(keys)) > 0
end

local remembered = tombstones()
local seen = some_exist()

-- Returns the fingerprint and the state of this tenant's task that has this id, and its record if there is one.
local function known(i, item, t)
  local new = fresh[keys[i]]
  if new then
    return new, 'pending'
  end
  local record = seen and load_record(item.tenant, item.id)
  if record and not is_former(record.score, t) then
    return record.fingerprint, record.state, record
  end
  local stone = remembered[i]
  if stone and not is_former(struct.unpack('<d', stone), t) then
    return string.sub(stone, 9, 40), string.sub(stone, 41)
  end
  return nil
end
