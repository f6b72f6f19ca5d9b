-- Registers tenants, or changes their limits.
--
-- Guarantee: a changed weight counts from this round on, never backwards; a tenant that now fits runs again.
-- KEYS[1]  the pool
-- ARGV     now_ms, {{id, weight, slot_ceiling, cost_ceiling, queue_limit}...}; 0 = no ceiling
-- Reply    how many were new
-- Events   tenant, released
--- @include commit
local asked = request()
local fresh = 0

local function put(id, weight, slot_ceiling, cost_ceiling, queue_limit)
  local t = load_tenant(id)
  if not t then
    fresh = fresh + 1
    t = read_tenant({})
    t.id, t.key, t.weight, t.ratio, t.credited, t.epoch = id, tenant_key(id), weight, 1000, pool.round, pool.epoch
    tenants[id] = t
    zadd(tenants_key, 0, id)
  end
  change_tenant(t)
  if t.place == '' then
    settle_debt(t)
  else
    credit(t)
  end
  t.weight, t.slot_ceiling, t.cost_ceiling, t.queue_limit = weight, slot_ceiling, cost_ceiling, queue_limit
  later('HSET', t.key, 'settings', pack_limits(t))
  event('tenant', id, weight, slot_ceiling, cost_ceiling)
  touch(t)
end

for _, item in ipairs(asked) do
  put(unpack(item))
end
stirred = true
commit_growing()
return cmsgpack.pack(fresh)
