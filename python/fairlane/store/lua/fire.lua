-- Fires timers that are due, for whoever waits while no dispatcher runs.
--
-- Guarantee: a timer fires once, whoever finds it due. A full server admits this.
-- KEYS[1]  the pool
-- ARGV     now_ms, {}
-- Reply    how many; the next call fires the rest
-- Events   expired, ready, released
--- @include commit
--- @include timers
local fired = fire_timers()
if fired > 0 or clock_was_set then
  commit_draining()
end
return cmsgpack.pack(fired)
