-- Adds to a tenant's budget: of this period, or in all if it has no periods.
--
-- Guarantee: the same `key` adds once within a day, so that the call may be repeated.
-- KEYS[1]  the pool
-- ARGV     now_ms, {tenant, units, key}
-- Reply    the budget with its top-ups, or a word: unknown, no_budget
-- Events   budget, released
--- @include commit
local t = load_tenant(request.tenant)
if not t then
  return cmsgpack.pack('unknown')
elseif t.budget < 0 then
  return cmsgpack.pack('no_budget')
end
local key = top_up_key(request.tenant, string.format('%.0f', t.registered), request.key)
if redis.call('EXISTS', key) == 0 then
  change_tenant(t)
  t.top_up, t.moved = t.top_up + request.units, true
  later('SET', key, request.units, 'PX', 86400000)
  event('budget', t.id, whole_budget(t))
  touch(t)
  look_later(t)
  stirred = true
  commit_growing()
end
return cmsgpack.pack(whole_budget(t))
