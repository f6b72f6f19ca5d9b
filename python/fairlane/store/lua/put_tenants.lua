-- Registers tenants, or changes their limits.
--
-- Guarantee: a changed weight counts from this round on, never backwards; a tenant that now fits runs again. A refusal
--   writes nothing.
-- KEYS[1]  the pool
-- ARGV     now_ms, {{id, {setting...}}...} in the order of TENANT_SETTINGS
-- Reply    how many were new, or {tenant, setting} for a setting that no limit may be
-- Events   period, tenant, budget, released
--- @include limits
local fresh = 0
for _, item in ipairs(request()) do
  local wrong = wrong_setting(item[2])
  if wrong then
    return cmsgpack.pack({ item[1], wrong })
  end
end
for _, item in ipairs(request()) do
  local t = load_tenant(item[1])
  if not t then
    fresh = fresh + 1
    t = new_tenant(item[1])
  end
  put_limits(t, item[2])
end
commit_growing()
return cmsgpack.pack(fresh)
