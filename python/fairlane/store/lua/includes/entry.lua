--- @include tenant
--- @include queue
--- @include gates
-- A tenant's entry in the calendar: its arrival, so that equals are served in turn, and its id.
local function entry_of(t, arrival)
  return string.format('%016.0f:', arrival) .. t.id
end

local function id_of_entry(entry)
  return string.sub(entry, 18)
end

local function enter_calendar(t)
  if t.place ~= 'calendar' then
    t.place = 'calendar'
    pool.runnable = pool.runnable + 1
  end
  t.rank = pool.policy == 'wdrr' and virtual_time(t) or head_of(t).score
end

local function leave_calendar(t, place)
  if t.place == 'calendar' then
    pool.runnable = pool.runnable - 1
  end
  t.place = place
  t.rank = false
end
