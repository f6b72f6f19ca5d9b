--- @include calendar
-- The calendar in order, seen through this call's own changes: stored entries of tenants this call has touched
-- are skipped, and their new places merged in.
local agenda = { page = {}, at = 1, from = 0, size = 0, open = true, again = {}, limit = 0 }

local function comes_first(rank, arrival, t)
  return rank < t.rank or rank == t.rank and arrival < t.arrival
end

local function reinsert(t)
  local again = agenda.again
  local at = #again + 1
  while at > 1 and comes_first(t.rank, t.arrival, again[at - 1]) do
    at = at - 1
  end
  table.insert(again, at, t)
end

local function turn_page()
  agenda.from = agenda.from + agenda.size
  agenda.size = agenda.size > 0 and 64 or math.min(agenda.limit + 1, 64)
  agenda.page = redis.call('ZRANGE', calendar_key, agenda.from, agenda.from + agenda.size - 1, 'WITHSCORES')
  agenda.at = 1
  agenda.open = #agenda.page == 2 * agenda.size
  local refs = {}
  for i = 1, #agenda.page, 2 do
    refs[#refs + 1] = { id_of_entry(agenda.page[i]) }
  end
  load_tenants(refs)
end

-- The first stored entry of an untouched tenant: rank, arrival, id; or nil.
local function stored_entry()
  while true do
    local entry = agenda.page[agenda.at]
    if entry then
      local id = id_of_entry(entry)
      local t = tenants[id]
      if not (t and t.dirty) then
        return tonumber(agenda.page[agenda.at + 1]), struct.unpack('>d', entry), id
      end
      agenda.at = agenda.at + 2
    elseif agenda.open then
      turn_page()
    else
      return nil
    end
  end
end

-- Takes the next tenant off the agenda; nil if no tenant is runnable.
local function next_tenant()
  local rank, arrival, id = stored_entry()
  local t = agenda.again[1]
  if t and not (id and comes_first(rank, arrival, t)) then
    return table.remove(agenda.again, 1)
  end
  return id and load_tenant(id)
end

-- `limit`: how many tasks the call serves at most.
local function open_agenda(limit)
  agenda.limit = limit
  for _, t in ipairs(touched) do
    if t.rank then
      reinsert(t)
    end
  end
end
