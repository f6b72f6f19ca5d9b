--- @include context
-- Virtual time: a tenant's service per weight, and the pool's, which is the largest that was settled for a tenant when it
-- was served. See docs/fairness.md. The Rust core computes the same doubles in the same order.
local function ceil_div(a, b)
  local floor = math.floor(a / b)
  return floor * b < a and floor + 1 or floor
end

local function charge_of(t, cost)
  return math.max(1, ceil_div(cost * t.ratio, 1000))
end

local function virtual_time(t)
  return t.base + t.served / t.weight
end

local function rank_of(t)
  return pool.policy == 'wdrr' and virtual_time(t) or t.head_score
end

local function deficit_of(t)
  return t.weight * (pool.virtual_time - virtual_time(t))
end

local function restart_at(t, at)
  t.base, t.served = at, 0
end

-- In a new epoch every virtual time is 0.
local function adopt(t)
  if t.epoch ~= pool.epoch then
    t.epoch, t.rebased, t.owed = pool.epoch, pool.rebased, 0
    restart_at(t, 0)
  elseif t.rebased ~= pool.rebased then
    restart_at(t, virtual_time(t) - (pool.rebased - t.rebased))
    t.rebased = pool.rebased
  end
end

-- Joins the calendar. Time without work, or spent parked, is no credit; debt is kept.
local function join(t)
  if virtual_time(t) < pool.virtual_time then
    restart_at(t, pool.virtual_time)
  end
  t.arrival = next_sequence()
end

-- V moves on to the tenant's virtual time without what is in flight, which may still be given back. What the tenant is owed
-- pays part of the charge. Behind its equals it waits for its next turn.
local function serve(t, charge)
  pool.virtual_time = math.max(pool.virtual_time, t.base + (t.served - t.charged) / t.weight)
  local discount = math.min(t.owed, math.floor(charge * 7 / 8))
  t.owed = t.owed - discount
  t.served = math.min(t.served + charge - discount, MAX_SERVED)
  t.charged = t.charged + charge
  t.arrival = next_sequence()
end
