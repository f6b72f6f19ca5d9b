--- @include period
--- @include virtual_time
-- Local copies of tenants; false: nobody registered the tenant.
local function copy_tenant(id, raw, limits)
  local t = read_tenant(id, raw, limits)
  adopt(t)
  if t.place == 'calendar' then
    t.entry, t.ranked = t.arrival, rank_of(t)
  end
  t.stored = t.head_id == '' and 0 or t.queued - 1
  roll_period(t)
  tenants[id] = t
end

-- Loads those of these tenants that the call has not loaded yet.
local function load_ids(ids)
  local raw = redis.call('HMGET', tenant_key, unpack(ids))
  local limited, records = {}, {}
  for i, id in ipairs(ids) do
    if not raw[i] then
      tenants[id] = false
    elseif is_limited(raw[i]) then
      limited[#limited + 1], records[#records + 1] = id, raw[i]
    else
      copy_tenant(id, raw[i])
    end
  end
  if limited[1] then
    local limits = redis.call('HMGET', limits_key, unpack(limited))
    for i, id in ipairs(limited) do
      copy_tenant(id, records[i], limits[i])
    end
  end
end

-- Loads every tenant that a batch names.
local function load_tenants(refs)
  local ids, named = {}, {}
  for _, ref in ipairs(refs) do
    local id = ref.tenant
    if tenants[id] == nil and not named[id] then
      named[id] = true
      ids[#ids + 1] = id
    end
  end
  return ids[1] and load_ids(ids)
end

-- A copy, or nil if nobody registered the tenant.
local function load_tenant(id)
  if tenants[id] == nil then
    load_ids({ id })
  end
  return tenants[id] or nil
end

-- Marks a copy for writing. Call it before the change.
local function change_tenant(t)
  if not t.dirty then
    t.dirty = true
    touched[#touched + 1] = t
    if t.rolled then
      event('period', t.id, t.period)
      if t.budget >= 0 then
        event('budget', t.id, t.budget)
      end
    end
  end
end
