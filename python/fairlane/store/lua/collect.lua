-- The ended tasks a client waits for, in the order they ended; those up to the cursor are acknowledged.
--
-- Guarantee: asked again from the same cursor it answers the same, while the records last.
-- KEYS[1]  the pool
-- ARGV     now_ms, {client, cursor, limit}
-- Reply    {more, {sequence, tenant:id, {record field...}}...}
-- Events   none
local asked = cmsgpack.unpack(ARGV[2])
local client, cursor, limit = asked[1], asked[2], asked[3]
local key = done_key(client)
if cursor > 0 then
  redis.call('ZREMRANGEBYSCORE', key, '-inf', cursor)
end
local found = redis.call('ZRANGE', key, 0, limit, 'WITHSCORES')
local reply = { #found > 2 * limit }
for i = 1, math.min(#found, 2 * limit), 2 do
  local name = found[i]
  local raw = redis.call('HMGET', task_prefix .. name, unpack(VIEW_FIELDS))
  reply[#reply + 1] = { tonumber(found[i + 1]), name, raw }
end
return cmsgpack.pack(reply)
