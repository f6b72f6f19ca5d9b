--- @include tenant
-- A tenant's deficit and charges. See docs/fairness.md.
local function ceil_div(a, b)
  local floor = math.floor(a / b)
  return floor * b < a and floor + 1 or floor
end

local function charge_of(t, cost)
  return math.max(1, ceil_div(cost * t.ratio, 1000))
end

local function add_deficit(t, amount)
  t.deficit = math.max(t.deficit + amount, MIN_DEFICIT)
end

-- Adds the credit of the rounds since the last one. Only a tenant in the calendar earns credit.
local function credit(t)
  if t.place == 'calendar' and pool.policy == 'wdrr' then
    t.deficit = t.deficit + (pool.round - t.credited) * t.weight * pool.quantum
    t.credited = pool.round
  end
end

-- While a tenant has no task, rounds pay off its debt but never give it credit.
local function settle_debt(t)
  if t.deficit < 0 then
    local per_round = t.weight * pool.quantum
    local passed = pool.round - t.credited
    if passed >= ceil_div(-t.deficit, per_round) then
      t.deficit = 0
    else
      t.deficit = t.deficit + passed * per_round
    end
  else
    t.deficit = 0
  end
  t.credited = pool.round
end
