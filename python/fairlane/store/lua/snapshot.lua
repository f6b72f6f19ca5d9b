-- Returns the pool and a page of its tenants at one instant.
--
-- Guarantee: reads only. A tenant of an earlier epoch reads as the next command would find it.
-- KEYS[1]  the pool
-- ARGV     now_ms, {after_tenant, limit, tenant}; tenant nil: a page, else this tenant alone
-- Reply    {now_ms, {pool field...}, more, {tenant, {tenant field...}}...}
-- Events   none
--- @include tenant
local after, limit, one = request.after_tenant, request.limit, request.tenant

local function values_of(copy, slots)
  local list = {}
  for i, slot in ipairs(slots) do
    list[i] = copy[slot]
  end
  return list
end

local function ids_of_page()
  if one then
    return load_tenant(one) and { one } or {}
  end
  return redis.call('ZRANGEBYLEX', tenants_key, after == '' and '-' or '(' .. after, '+', 'LIMIT', 0, limit + 1)
end

local ids = ids_of_page()
if ids[1] and not one then
  load_ids(ids)
end
local reply = { now, values_of(pool, POOL_VIEW), #ids > limit }
for i = 1, math.min(#ids, limit) do
  reply[#reply + 1] = { ids[i], values_of(load_tenant(ids[i]), TENANT_VIEW) }
end
return cmsgpack.pack(reply)
