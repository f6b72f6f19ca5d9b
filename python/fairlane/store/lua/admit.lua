-- Opens or closes admission. A closed pool finishes its tasks.
--
-- Guarantee: a closed pool accepts no new task; a submit of a known task still finds it.
-- KEYS[1]  the pool
-- ARGV     now_ms, {closed}
-- Reply    true
-- Events   none
--- @include commit
pool.closed = request.closed
commit_draining()
return cmsgpack.pack(true)
