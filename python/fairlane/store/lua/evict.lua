-- Ends a worker incarnation now, and takes its tasks back, some at a time.
--
-- Guarantee: after the first call every write of the incarnation is refused. Any caller can continue.
-- KEYS[1]  the pool
-- ARGV     now_ms, {incarnation}
-- Reply    {tasks, more, {incarnation}, false, offset}
-- Events   worker, lost, cancelled, expired
--- @include commit
--- @include recovery
local incarnation = request.incarnation
local count, more = recover(incarnation, RECOVERY_LIMIT)
commit_draining()
return cmsgpack.pack({ count, more, { incarnation }, false, math.floor(pool.offset) })
