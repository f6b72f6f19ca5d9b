-- Registers tenants, or changes their limits.
--
-- Guarantee: a changed weight counts from this round on, never backwards; a tenant that now fits runs again.
-- KEYS[1]  the pool
-- ARGV     now_ms, {{id, setting...}...} in the order of TENANT_SETTINGS
-- Reply    how many were new
-- Events   period, tenant, budget, released
--- @include commit
local asked = request()
local fresh = 0

local function new_tenant(id)
  local t = read_tenant({})
  t.id, t.key, t.weight, t.ratio, t.credited, t.epoch, t.budget = id, tenant_key(id), 1, 1000, pool.round, pool.epoch, -1
  tenants[id] = t
  zadd(tenants_key, 0, id)
  return t
end

local function apply(t, item)
  local length, anchor = t.budget_period, t.budget_anchor
  local starts, spend = t.starts_interval, t.spend_interval
  for i, field in ipairs(TENANT_SETTINGS) do
    t[field] = item[i + 1]
  end
  keep_intervals(t, starts, spend)
  if t.period == 0 or length ~= t.budget_period or anchor ~= t.budget_anchor then
    begin_period(t)
    if t.period > 1 then
      event('period', t.id, t.period)
    end
  end
  later('HSET', t.key, 'settings', pack_limits(t))
end

local function put(item)
  local t = load_tenant(item[1])
  if not t then
    fresh = fresh + 1
    t = new_tenant(item[1])
  end
  change_tenant(t)
  if t.place == '' then
    settle_debt(t)
  else
    credit(t)
  end
  apply(t, item)
  event('tenant', t.id, t.weight, t.slot_ceiling, t.cost_ceiling)
  if t.budget >= 0 then
    event('budget', t.id, whole_budget(t))
  end
  touch(t)
  if CURED_BY_TIME[t.place] then
    wake_later(t, t.place)
  end
end

for _, item in ipairs(asked) do
  put(item)
end
stirred = true
commit_growing()
return cmsgpack.pack(fresh)
