-- Adds to a tenant's budget of this period, or to its one sum.
--
-- Guarantee: not repeatable by itself: `key` makes it so, for a day; the same key adds once.
-- KEYS[1]  the pool
-- ARGV     now_ms, {tenant, units, key}
-- Reply    the budget with all that was added, or a word: unknown, no_budget
-- Events   budget, released
--- @include commit
local asked = request()
local t = load_tenant(asked[1])
if not t then
  return cmsgpack.pack('unknown')
elseif t.budget < 0 then
  return cmsgpack.pack('no_budget')
end
local key = top_up_key(asked[1], string.format('%.0f', t.registered), asked[3])
if redis.call('EXISTS', key) == 0 then
  change_tenant(t)
  credit(t)
  t.top_up = t.top_up + asked[2]
  later('SET', key, asked[2], 'PX', 86400000)
  event('budget', t.id, whole_budget(t))
  touch(t)
  look_later(t)
  stirred = true
  commit_growing()
end
return cmsgpack.pack(whole_budget(t))
