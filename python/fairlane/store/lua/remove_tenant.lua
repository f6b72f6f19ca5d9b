-- Forgets a tenant that has no tasks.
--
-- Guarantee: a tenant with tasks stays as it is. Registered again, the id is another tenant, with none of the first one's
--   top-ups, usage or debt.
-- KEYS[1]  the pool
-- ARGV     now_ms, {tenant}
-- Reply    removed, busy or unknown
-- Events   removed
--- @include commit
local id = request.tenant
local t = load_tenant(id)
if not t then
  return cmsgpack.pack('unknown')
end
if t.queued + t.waiting + t.slots > 0 then
  return cmsgpack.pack('busy')
end
zrem(tenants_key, id)
later('HDEL', tenant_key, id)
later('HDEL', limits_key, id)
later('DEL', pending_key(id), window_key(id))
zrem(timers_key, 'window:' .. id)
zrem(timers_key, 'budget:' .. id)
event('removed', id)
commit_draining()
return cmsgpack.pack('removed')
