-- Returns the ended tasks that a client waits for, in the order of their ends, and acknowledges all up to the cursor.
--
-- Guarantee: the same cursor gets the same answer, as long as the records last.
-- KEYS[1]  the pool
-- ARGV     now_ms, {client, cursor, limit}
-- Reply    {more, {sequence, tenant:id, {record field...}}...}
-- Events   none
local request = cmsgpack.unpack(ARGV[2])
local key, limit = done_key(request.client), request.limit
if request.cursor > 0 then
  redis.call('ZREMRANGEBYSCORE', key, '-inf', request.cursor)
end
local found = redis.call('ZRANGE', key, 0, limit, 'WITHSCORES')
local reply = { #found > 2 * limit }
for i = 1, math.min(#found, 2 * limit), 2 do
  local name = found[i]
  local raw = redis.call('HMGET', task_prefix .. name, unpack(VIEW_FIELDS))
  reply[#reply + 1] = { tonumber(found[i + 1]), name, raw }
end
return cmsgpack.pack(reply)
