-- Renews a worker's lease.
--
-- Guarantee: a lost incarnation stays lost.
-- KEYS[1]  the pool
-- ARGV     now_ms, {incarnation}
-- Reply    {alive, load, runnable, {{name, fence}...} to stop}
-- Events   none
--- @include commit
--- @include worker
--- @include stopping
local incarnation = request.incarnation
local w = live_worker(incarnation)
if not w then
  return cmsgpack.pack({ false, 0, 0, {} })
end
zadd(workers_key, now + pool.lease, incarnation)
commit_draining()
return cmsgpack.pack({ true, w.load, pool.runnable, stopping(incarnation) })
