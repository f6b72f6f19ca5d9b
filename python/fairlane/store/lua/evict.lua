-- Ends a worker incarnation now, and takes its tasks back step by step.
--
-- Guarantee: after the first call every write of the incarnation is refused. Any caller can go on where one stopped.
-- KEYS[1]  the pool
-- ARGV     now_ms, {incarnation}
-- Reply    {tasks, more, {incarnation}}
-- Events   worker, lost, cancelled, expired
--- @include commit
--- @include recovery
local incarnation = request()[1]
local count, more = recover(incarnation, RECOVERY_LIMIT)
commit_draining()
return cmsgpack.pack({ count, more, { incarnation }, false })
