-- Opens or closes admission. A closed pool finishes what it has.
--
-- Guarantee: while closed no new task is accepted; known ones are still found.
-- KEYS[1]  the pool
-- ARGV     now_ms, {closed}
-- Reply    true
-- Events   none
--- @include commit
pool.closed = request()[1]
commit_draining()
return cmsgpack.pack(true)
