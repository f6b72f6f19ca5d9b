-- Gives a worker the tasks that it was handed above its cursor, and marks them active.
--
-- Guarantee: the same cursor gets the same answer, so that a lost reply loses nothing. A task whose deadline has passed
--   ends here without a call. While the pool is paused nothing starts; during a ramp no more than its open slots are
--   active; a task in its last life runs alone. Tasks start in the order of their fences, up to the first that must
--   wait; those that wait stay above every cursor.
-- KEYS[1]  the pool
-- ARGV     now_ms, {incarnation, cursor, limit}
-- Reply    {alive, hold_ms|false, more, {{tenant, fence}...} to stop, {{tenant, id, fence, cost, payload, failures,
--          deadline_ms|false}...}}
-- Events   active, expired
--- @include commit
--- @include taking
local more = w and take_handed()
if begun then
  write_stamps()
  commit_draining()
end
return cmsgpack.pack(answer_start(more))
