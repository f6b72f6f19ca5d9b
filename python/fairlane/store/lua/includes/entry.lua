--- @include tenant
--- @include queue
--- @include gates
-- A tenant's entry in the calendar: its arrival, so that equals are served in turn, and its id.
-- A double that is not negative sorts as its bytes do, the highest first.
local function entry_of(t, arrival)
  return struct.pack('>d', arrival) .. t.id
end

local function id_of_entry(entry)
  return string.sub(entry, 9)
end

local function enter_calendar(t)
  if t.place ~= 'calendar' then
    t.place = 'calendar'
    pool.runnable = pool.runnable + 1
  end
  t.rank = rank_of(t)
end

local function leave_calendar(t, place)
  if t.place == 'calendar' then
    pool.runnable = pool.runnable - 1
  end
  t.place = place
  t.rank = false
end
