--- @include context
-- Pauses, and the ramp after a throttle's pause: slots open one by one, so that the waiting tasks do not all call at once.
local function is_ramping()
  return pool.paused_until <= now and now < pool.ramp_until
end

local function open_slots()
  if now >= pool.ramp_until then
    return pool.capacity
  end
  local length = pool.ramp_until - pool.ramp_from
  return math.max(1, math.min(pool.capacity, math.ceil(pool.capacity * (now - pool.ramp_from) / length)))
end

-- When the ramp opens more than `slots` slots; at the latest, its end.
local function opens_beyond(slots)
  local length = pool.ramp_until - pool.ramp_from
  return math.min(pool.ramp_until, pool.ramp_from + math.floor(slots * length / pool.capacity) + 1)
end

-- Pauses the pool at least until then, with a ramp after the pause. A ramp that has not ended restarts after the pause,
-- at least as long as before: a pause never opens a slot earlier.
local function pause_until(until_ms, ramp)
  if pool.ramp_until > now then
    ramp = math.max(ramp, pool.ramp_until - pool.ramp_from)
  end
  pool.paused_until = math.max(pool.paused_until, until_ms)
  pool.ramp_from = pool.paused_until
  pool.ramp_until = pool.paused_until + math.min(ramp, pool.resume_ramp)
end
