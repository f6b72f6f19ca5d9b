-- Gives one tenant other limits, or registers it, if its limits are still what the caller has read.
--
-- Guarantee: as `put_tenants`; of two callers that read the same and want different things the second is refused, so
--   that it reads again. A refusal writes nothing. Limits that are as wanted already are no refusal.
-- KEYS[1]  the pool
-- ARGV     now_ms, {tenant, {setting...} as read, none if nobody had registered it, {setting...} as wanted}
-- Reply    1, or 0 if it is refused, or {tenant, setting} for a setting that no limit may be
-- Events   period, tenant, budget, released
--- @include limits
local asked = request()
local id, read, wanted = asked[1], asked[2], asked[3]
-- Settings that mean nothing, and may be what they were before, while another is 0.
local NEEDS = { starts_interval = 'starts_limit', spend_interval = 'spend_limit', budget_anchor = 'budget_period' }

local function has(t, settings)
  for i, field in ipairs(TENANT_SETTINGS) do
    local needed = NEEDS[field]
    if t[field] ~= settings[i] and not (needed and t[needed] == 0) then
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
