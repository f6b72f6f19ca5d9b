-- A busy worker's turn, in one step: settles the attempts that ended, takes the tasks that it was handed, and then as many
--   of the next tasks as it has ended.
--
-- Guarantee: as settle, as start, and as dispatch for the tasks that nobody handed over.
-- KEYS[1]  the pool
-- ARGV     now_ms, {incarnation, cursor, limit, {{tenant, id, fence, outcome, actual, result, error_code, error,
--          backoff_ms}...}}
-- Reply    {{write...} in the order asked, what start answers}
-- Events   those of settle, of start and of dispatch
--- @include commit
--- @include outcome
--- @include refill
local writes, changed = end_attempts(claim_active, settle)
local more = w and take_handed()
if w and not hold and not more then
  refill(writes)
end
if changed or touched[1] or begun then
  write_stamps()
  commit_growing()
end
return cmsgpack.pack({ writes, answer_start(more) })
