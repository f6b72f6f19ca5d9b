-- Renews a worker's lease.
--
-- Guarantee: a lost incarnation stays lost.
-- KEYS[1]  the pool
-- ARGV     now_ms, {incarnation}
-- Reply    {alive, load, runnable, {{name, fence}...} to stop}
-- Events   none
--- @include commit
--- @include worker
local incarnation = request.incarnation
local w = live_worker(incarnation)
if not w then
  return cmsgpack.pack({ false, 0, 0, {} })
end
local raw = redis.call('ZRANGE', cancelling_key(incarnation), 0, 255, 'WITHSCORES')
local stopping = {}
for i = 1, #raw, 2 do
  stopping[#stopping + 1] = { raw[i], tonumber(raw[i + 1]) }
end
zadd(workers_key, now + pool.lease, incarnation)
commit_draining()
return cmsgpack.pack({ true, w.load, pool.runnable, stopping })
