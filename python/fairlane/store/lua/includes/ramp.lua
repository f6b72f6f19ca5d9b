--- @include context
-- Pauses, and the ramp behind a throttle's: slots open one after the other, or all that waited would call at once.
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

-- When the ramp opens more slots than so many; at its end, if it never does.
local function opens_beyond(slots)
  local length = pool.ramp_until - pool.ramp_from
  return math.min(pool.ramp_until, pool.ramp_from + math.floor(slots * length / pool.capacity) + 1)
end

-- Pauses the pool at least until then, with a ramp behind it. A ramp that has not ended begins anew behind the pause,
-- as long as it was or longer: a pause never opens a slot sooner.
local function pause_until(until_ms, ramp)
  if pool.ramp_until > now then
    ramp = math.max(ramp, pool.ramp_until - pool.ramp_from)
  end
  pool.paused_until = math.max(pool.paused_until, until_ms)
  pool.ramp_from = pool.paused_until
  pool.ramp_until = pool.paused_until + math.min(ramp, pool.resume_ramp)
end
