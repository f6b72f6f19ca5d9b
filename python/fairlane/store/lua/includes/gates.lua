--- @include ledger
--- @include window
-- What holds a task back. Pool gates stop everything, so that nothing overtakes a large head; a tenant's own gates park
-- that tenant alone.

-- After a throttle's pause the slots open one after the other, or all that waited would call at once.
local function open_slots()
  if now >= pool.ramp_until then
    return pool.capacity
  end
  local share = (now - pool.ramp_from) / (pool.ramp_until - pool.ramp_from)
  return math.max(1, math.min(pool.capacity, math.ceil(pool.capacity * share)))
end

local function pool_stop(head)
  if pool.paused_until > now then
    return 'paused'
  end
  if pool.slots >= open_slots() then
    return 'capacity'
  end
  if head and pool.cost_ceiling > 0 and pool.cost + head.cost > pool.cost_ceiling then
    return 'cost'
  end
  return head and closed_window(pool, POOL_OWNER, head.cost)
end

-- The tenant's own limit that stops this task now, or nil.
local function blocking(t, head)
  if t.slot_ceiling > 0 and t.slots >= t.slot_ceiling then
    return 'slots'
  end
  if t.cost_ceiling > 0 and t.cost + head.cost > t.cost_ceiling then
    return 'cost'
  end
  if t.budget_rejects == 0 and over_budget(t, head.cost) then
    return 'budget'
  end
  return closed_window(t, t.id, head.cost)
end

local function below(cost, limit)
  return limit > 0 and cost > limit and limit
end

-- The ceiling that can never admit this task, or nil.
local function ceiling_below(t, cost)
  return below(cost, pool.max_cost) or below(cost, t.cost_ceiling) or below(cost, pool.cost_ceiling)
    or below(cost, t.spend_limit) or below(cost, pool.spend_limit)
    or t.budget >= 0 and cost > whole_budget(t) and whole_budget(t) or nil
end

local function is_hopeless(t, head)
  return ceiling_below(t, head.cost) ~= nil
end
