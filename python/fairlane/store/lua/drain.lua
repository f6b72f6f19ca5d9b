-- Tells the dispatcher to hand this worker nothing new.
--
-- Guarantee: what it holds stays its own.
-- KEYS[1]  the pool
-- ARGV     now_ms, {incarnation}
-- Reply    true, or false when it is not alive
-- Events   worker
--- @include commit
--- @include worker
local incarnation = request()[1]
local w = live_worker(incarnation)
if w and w.state == 'live' then
  w.state = 'draining'
  w.dirty = true
  pool.fleet = pool.fleet + 1
  event('worker', incarnation, w.name, 'draining')
  commit_draining()
end
return cmsgpack.pack(w ~= nil)
