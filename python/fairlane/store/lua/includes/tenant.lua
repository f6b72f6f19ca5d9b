--- @include period
-- A local copy of a tenant, or nil if nobody registered it. In a new epoch its deficit is 0.
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
  if t.epoch ~= pool.epoch then
    t.epoch, t.deficit, t.credited = pool.epoch, 0, 0
  end
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
