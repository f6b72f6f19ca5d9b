--- @include deficit
--- @include queue
--- @include gates
-- A tenant's entry in the calendar.
-- The rank in the calendar of a tenant with a pending task.
local function rank_of(t)
  local head = head_of(t)
  if pool.policy ~= 'wdrr' then
    return head.score
  end
  local missing = charge_of(t, head.cost) - t.deficit
  if missing <= 0 then
    return math.max(t.credited, pool.round)
  end
  return math.max(t.credited + ceil_div(missing, t.weight * pool.quantum), pool.round)
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
    t.left = true
  end
  t.place = place
  t.rank = false
end
