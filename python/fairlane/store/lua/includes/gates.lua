--- @include ledger
--- @include window
--- @include ramp
-- The limits that hold a task back. The pool's stop the whole dispatch, so that nothing overtakes a large task; a tenant's
-- own park that tenant alone.

-- `cost`: of the task to serve, or nil to ask only whether any task may start.
local function pool_stop(cost)
  if pool.paused_until > now then
    return 'paused'
  end
  if pool.slots >= open_slots() then
    return 'capacity'
  end
  if cost and pool.cost_ceiling > 0 and pool.cost + cost > pool.cost_ceiling then
    return 'cost'
  end
  return cost and closed_window(pool, POOL_OWNER, cost)
end

-- The tenant's own limit that stops its next task now, or nil.
local function blocking(t)
  local cost = t.head_cost
  if t.slot_ceiling > 0 and t.slots >= t.slot_ceiling then
    return 'slots'
  end
  if t.cost_ceiling > 0 and t.cost + cost > t.cost_ceiling then
    return 'cost'
  end
  if t.budget_rejects == 0 and over_budget(t, cost) then
    return 'budget'
  end
  return closed_window(t, t.id, cost)
end

local function lower(largest, limit)
  return limit > 0 and limit < largest and limit or largest
end

-- The largest cost that this tenant's and the pool's limits can ever admit. Limits do not change within a call.
local function largest_cost(t)
  if not t.largest_cost then
    local largest = lower(lower(MAX_COST, t.cost_ceiling), pool.cost_ceiling)
    largest = lower(lower(largest, t.spend_limit), pool.spend_limit)
    t.largest_cost = t.budget < 0 and largest or math.min(largest, whole_budget(t))
  end
  return t.largest_cost
end

local function is_hopeless(t)
  return t.head_cost > largest_cost(t)
end
