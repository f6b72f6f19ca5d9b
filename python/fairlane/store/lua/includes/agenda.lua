--- @include calendar
--- @include order
-- The calendar in order, seen through this call's own changes: stored entries of tenants this call has touched
-- are skipped, and their new places merged in.
local agenda = { page = {}, at = 1, from = 0, size = 0, open = true, again = {} }

local function reinsert(t)
  local again = agenda.again
  local at = #again + 1
  while at > 1 and comes_first(t.rank, t.id, again[at - 1].rank, again[at - 1].id) do
    at = at - 1
  end
  table.insert(again, at, t)
end

local function turn_page()
  agenda.from = agenda.from + agenda.size
  agenda.size = math.min(math.max(8, agenda.size * 2), 64)
  agenda.page = redis.call('ZRANGE', calendar_key, agenda.from, agenda.from + agenda.size - 1, 'WITHSCORES')
  agenda.at = 1
  agenda.open = #agenda.page == 2 * agenda.size
end

-- The first stored entry of an untouched tenant: rank, id; or nil.
local function stored_entry()
  while true do
    local id = agenda.page[agenda.at]
    if id then
      local t = tenants[id]
      if not (t and t.dirty) then
        return tonumber(agenda.page[agenda.at + 1]), id
      end
      agenda.at = agenda.at + 2
    elseif agenda.open then
      turn_page()
    else
      return nil
    end
  end
end

-- Takes the next tenant off the agenda: rank, copy; or nil if no tenant is runnable.
local function next_tenant()
  local rank, id = stored_entry()
  local t = agenda.again[1]
  if t and (not id or comes_first(t.rank, t.id, rank, id)) then
    table.remove(agenda.again, 1)
    return t.rank, t
  end
  if id then
    return rank, load_tenant(id)
  end
  return nil
end

local function open_agenda()
  for _, t in ipairs(touched) do
    if t.rank then
      reinsert(t)
    end
  end
end
