-- Registers tenants, or changes their limits.
--
-- Guarantee: a changed weight takes effect for service from now on; a parked tenant whose next task fits now runs again. A
--   refusal writes nothing.
-- KEYS[1]  the pool
-- ARGV     now_ms, {{{tenant, settings}...}}: settings in the order of TENANT_SETTINGS
-- Reply    how many were new; {tenant, setting}: that setting is out of bounds
-- Events   period, tenant, budget, released
--- @include limits
local fresh = 0
load_tenants(request.items)
for _, item in ipairs(request.items) do
  local wrong = wrong_setting(item.settings)
  if wrong then
    return cmsgpack.pack({ item.tenant, wrong })
  end
end
for _, item in ipairs(request.items) do
  local t = load_tenant(item.tenant)
  if not t then
    fresh = fresh + 1
    t = new_tenant(item.tenant)
  end
  put_limits(t, item.settings)
end
commit_draining()
return cmsgpack.pack(fresh)
