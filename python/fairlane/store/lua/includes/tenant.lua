--- @include period
--- @include virtual_time
-- A local copy of a tenant, or nil if nobody registered it.
local function load_tenant(id)
  local t = tenants[id]
  if t ~= nil then
    return t or nil
  end
  local key = tenant_key(id)
  local raw = redis.call('HMGET', key, 'settings', 'state')
  if not raw[1] then
    tenants[id] = false
    return nil
  end
  t = read_tenant(raw)
  t.id, t.key = id, key
  adopt(t)
  t.entry = t.place == 'calendar' and t.arrival
  t.stored = t.queued
  roll_period(t)
  tenants[id] = t
  return t
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
