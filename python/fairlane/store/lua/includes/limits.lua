--- @include commit
--- @include bounds
-- A tenant's limits: registering it, and changing them under its tasks.
-- Returns the first setting, in the order of TENANT_SETTINGS, that is out of bounds, or nil.
local function wrong_setting(settings)
  for i, field in ipairs(TENANT_SETTINGS) do
    if not is_within(settings[i], TENANT_BOUNDS[field]) then
      return field
    end
  end
  return nil
end

local function new_tenant(id)
  local t = read_tenant(id, NEW_TENANT)
  t.epoch, t.rebased, t.registered, t.period = pool.epoch, pool.rebased, next_sequence(), 0
  tenants[id] = t
  zadd(tenants_key, 0, id)
  return t
end

local function apply(t, settings)
  local length, anchor = t.budget_period, t.budget_anchor
  local starts, spend = t.starts_interval, t.spend_interval
  local at, weight = virtual_time(t), t.weight
  for i, field in ipairs(TENANT_SETTINGS) do
    t[TENANT_SLOTS[field]] = settings[i]
  end
  if t.weight ~= weight then
    restart_at(t, at)
  end
  pool.heaviest = math.max(pool.heaviest, t.weight)
  keep_intervals(t, starts, spend)
  if t.period == 0 or length ~= t.budget_period or length > 0 and anchor ~= t.budget_anchor then
    begin_period(t)
    if t.period > 1 then
      event('period', t.id, t.period)
    end
  end
  t.limited, t.moved = 1, true
end

-- Gives a tenant these settings, in the order of TENANT_SETTINGS. A changed weight counts for service from now on.
local function put_limits(t, settings)
  change_tenant(t)
  apply(t, settings)
  event('tenant', t.id, t.weight, t.slot_ceiling, t.cost_ceiling)
  if t.budget >= 0 then
    event('budget', t.id, whole_budget(t))
  end
  touch(t)
  look_later(t)
  stirred = true
end
