-- Changes one tenant's limits, or registers it, if its limits are still the ones that the caller has read.
--
-- Guarantee: as `put_tenants`. Of two callers that read the same limits and want different ones, the second is refused
--   and has to read again. A refusal writes nothing. A tenant that already has the wanted limits is no refusal.
-- KEYS[1]  the pool
-- ARGV     now_ms, {tenant, read, wanted}: settings in the order of TENANT_SETTINGS; read: {} if there was no tenant
-- Reply    1; 0: refused; {tenant, setting}: a wanted setting is out of bounds
-- Events   period, tenant, budget, released
--- @include limits
local id, read, wanted = request.tenant, request.read, request.wanted
-- Settings without a meaning while another setting is 0: they may keep their old values.
local NEEDS = { starts_interval = 'starts_limit', spend_interval = 'spend_limit', budget_anchor = 'budget_period' }

local function has(t, settings)
  for i, field in ipairs(TENANT_SETTINGS) do
    local needed = NEEDS[field]
    if t[TENANT_SLOTS[field]] ~= settings[i] and not (needed and t[TENANT_SLOTS[needed]] == 0) then
      return false
    end
  end
  return true
end

local wrong = wrong_setting(wanted)
if wrong then
  return cmsgpack.pack({ id, wrong })
end
local t = load_tenant(id)
if t and has(t, wanted) then
  return cmsgpack.pack(1)
elseif t and not has(t, read) or not t and #read > 0 then
  return cmsgpack.pack(0)
end
put_limits(t or new_tenant(id), wanted)
commit_growing()
return cmsgpack.pack(1)
