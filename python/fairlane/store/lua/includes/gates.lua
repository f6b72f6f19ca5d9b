--- @include context
-- What holds a task back. Pool gates stop everything, so that nothing overtakes a large head; a tenant's own
-- gates park that tenant alone.
local function pool_stop(head)
  if pool.paused_until > now then
    return 'paused'
  end
  if pool.slots >= pool.capacity then
    return 'capacity'
  end
  if head and pool.cost_ceiling > 0 and pool.cost + head.cost > pool.cost_ceiling then
    return 'cost'
  end
  return nil
end

-- The tenant's own limit that stops this task now, or nil.
local function blocking(t, head)
  if t.slot_ceiling > 0 and t.slots >= t.slot_ceiling then
    return 'slots'
  end
  if t.cost_ceiling > 0 and t.cost + head.cost > t.cost_ceiling then
    return 'cost'
  end
  return nil
end

-- The ceiling that can never admit this task, or nil.
local function ceiling_below(t, cost)
  if cost > pool.max_cost then
    return pool.max_cost
  end
  if t.cost_ceiling > 0 and cost > t.cost_ceiling then
    return t.cost_ceiling
  end
  if pool.cost_ceiling > 0 and cost > pool.cost_ceiling then
    return pool.cost_ceiling
  end
  return nil
end

local function is_hopeless(t, head)
  return ceiling_below(t, head.cost) ~= nil
end
