-- A busy worker's turn: settles the attempts that ended, then takes the tasks that it was handed, in one step.
--
-- Guarantee: as settle and as start.
-- KEYS[1]  the pool
-- ARGV     now_ms, {incarnation, cursor, limit, {{tenant, id, fence, outcome, actual, result, error_code, error,
--          backoff_ms}...}}
-- Reply    {{write...} in the order asked, what start answers}
-- Events   those of settle and of start
--- @include commit
--- @include outcome
--- @include taking
local writes, changed = end_attempts(claim_active, settle)
local reply = take_tasks()
if changed or begun then
  write_stamps()
  commit_draining()
end
return cmsgpack.pack({ writes, reply })
