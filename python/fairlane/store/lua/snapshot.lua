-- The pool and a page of its tenants at one instant.
--
-- Guarantee: reads only.
-- KEYS[1]  the pool
-- ARGV     now_ms, {after_tenant, limit}
-- Reply    {now_ms, {pool field...}, more, {tenant, {tenant field...}}...}
-- Events   none
--- @include pool
local asked = cmsgpack.unpack(ARGV[2])
local after, limit = asked[1], asked[2]
local raw = redis.call('HMGET', pool_key, unpack(POOL_FIELDS))
local now = read_clock(load_pool())
local ids = redis.call('ZRANGEBYLEX', tenants_key, after == '' and '-' or '(' .. after, '+', 'LIMIT', 0, limit + 1)
local reply = { now, raw, #ids > limit }
for i = 1, math.min(#ids, limit) do
  reply[#reply + 1] = { ids[i], redis.call('HMGET', tenant_key(ids[i]), unpack(TENANT_FIELDS)) }
end
return cmsgpack.pack(reply)
