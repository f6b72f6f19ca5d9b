-- Pauses the pool for a time, or resumes it.
--
-- Guarantee: during the pause nothing is dispatched, and no task that was handed over starts. A throttle's ramp that has
--   not ended restarts after the pause.
-- KEYS[1]  the pool
-- ARGV     now_ms, {duration_ms}; 0 resumes; a longer pause stays in force
-- Reply    true
-- Events   paused, resumed
--- @include commit
--- @include ramp
local duration = request.duration_ms
if duration > 0 then
  pause_until(now + duration, 0)
  event('paused', pool.paused_until)
else
  pool.paused_until, pool.ramp_until = 0, 0
  event('resumed')
  stirred = true
end
ring('dispatcher')
for _, incarnation in ipairs(redis.call('ZRANGE', workers_key, 0, -1)) do
  ring('worker:' .. incarnation)
end
commit_draining()
return cmsgpack.pack(true)
