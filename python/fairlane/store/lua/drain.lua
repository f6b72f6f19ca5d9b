-- Marks a worker as draining: the dispatcher hands it no more tasks.
--
-- Guarantee: the worker keeps the tasks that it has.
-- KEYS[1]  the pool
-- ARGV     now_ms, {incarnation}
-- Reply    true, or false if the incarnation is not alive
-- Events   worker
--- @include commit
--- @include worker
local incarnation = request.incarnation
local w = live_worker(incarnation)
if w and w.state == 'live' then
  w.state = 'draining'
  w.dirty = true
  pool.fleet = pool.fleet + 1
  event('worker', incarnation, w.name, 'draining')
  commit_draining()
end
return cmsgpack.pack(w ~= nil)
