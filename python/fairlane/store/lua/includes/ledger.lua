--- @include tenant
-- A tenant's budget. Attempts in flight that were reserved in this period are held; ended ones are spent. See
-- docs/budgets.md.
local function held_of(t)
  return t.cost - t.held_before
end

local function room_of(t)
  return t.budget + t.top_up - t.spent - t.late - held_of(t)
end

local function over_budget(t, cost)
  return t.budget >= 0 and cost > room_of(t)
end

-- The budget with its top-ups.
local function whole_budget(t)
  return t.budget + t.top_up
end

-- Ends a hold: an attempt belongs to the period in which it was reserved.
local function end_hold(t, record)
  t.cost = t.cost - record.cost
  if record.period ~= t.period then
    t.held_before, t.moved = t.held_before - record.cost, true
  end
end

-- Books an attempt's actual cost in the period in which it was reserved.
local function capture(t, record, actual)
  t.spent_total = t.spent_total + actual
  if record.period == t.period then
    t.spent = t.spent + actual
    t.overrun = t.overrun + math.max(0, actual - record.cost)
  elseif record.period == t.period - 1 then
    t.spent_before, t.moved = t.spent_before + actual, true
  end
end
