--- @include tenant
-- The writes of a call's tenants.
local function write_limits(limited)
  local list, unlimited = {}, {}
  for _, t in ipairs(limited) do
    local packed = pack_limits(t)
    if packed == NO_LIMITS then
      t.limited = 0
      unlimited[#unlimited + 1] = t.id
    else
      list[#list + 1] = t.id
      list[#list + 1] = packed
    end
  end
  call_with_list('HDEL', limits_key, unlimited)
  call_with_list('HSET', limits_key, list)
end

local function write_tenants()
  local limited, list = {}, {}
  for _, t in ipairs(touched) do
    if t.limited == 1 and t.moved then
      limited[#limited + 1] = t
    end
  end
  if limited[1] then
    write_limits(limited)
  end
  for _, t in ipairs(touched) do
    list[#list + 1] = t.id
    list[#list + 1] = pack_tenant(t)
  end
  call_with_list('HSET', tenant_key, list)
end
