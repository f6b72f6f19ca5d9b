--- @include context
-- Budget periods. They are counted, so that a changed period length never mistakes an old attempt for a new one.
local function next_boundary(t)
  if t.budget_period == 0 then
    return 0
  end
  local passed = math.floor((now - t.budget_anchor) / t.budget_period)
  return t.budget_anchor + (passed + 1) * t.budget_period
end

-- Begins a period. Attempts in flight stay with the period in which they were reserved.
local function begin_period(t)
  t.moved = true
  t.period = t.period + 1
  t.period_end = next_boundary(t)
  t.held_before = t.cost
  t.spent_before = t.spent
  t.spent, t.overrun, t.late, t.top_up = 0, 0, 0, 0
end

local function roll_period(t)
  if t.period_end > 0 and now >= t.period_end then
    begin_period(t)
    t.rolled = true
  end
end
