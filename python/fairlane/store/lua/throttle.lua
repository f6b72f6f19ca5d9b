-- Ends attempts that the provider throttled: charges nothing, counts no failure, and the task keeps its place.
--
-- Guarantee: as settle. The pool, or only the task, waits for the pause that the provider named, or a short one if it
--   named 0. A throttle never opens a slot earlier.
-- KEYS[1]  the pool
-- ARGV     now_ms, {incarnation, {{tenant, id, fence, retry_after_ms}...}}; nil: the provider named none
-- Reply    {write...} in the order asked
-- Events   throttled, cancelled, paused
--- @include commit
--- @include claim
--- @include ramp
local SHORTEST_PAUSE = 10

-- A provider that names 0 and throttles again would be called without end: the wait doubles with each throttle of the
-- task.
local function pause_of(record, named)
  if named and named > 0 then
    return named
  end
  return not named and pool.default_pause or math.min(pool.default_pause, SHORTEST_PAUSE * 2 ^ record.throttles)
end

local function pause_pool(pause)
  local before = pool.paused_until
  pause_until(now + pause, pause)
  if pool.paused_until > before then
    event('paused', pool.paused_until)
    ring('dispatcher')
  end
end

-- Spreads tasks that wait for the same moment evenly over the ramp: multiples of the golden ratio, here in 65536ths, lie
-- between each other, however many there are.
local function spread(pause)
  local place = (pool.throttles % 65536) * 40503 % 65536
  return math.floor(math.min(pause, pool.resume_ramp) * place / 65536)
end

local function throttle(t, record, item)
  local pause = pause_of(record, item.retry_after_ms)
  pool.throttles = pool.throttles + 1
  if pool.throttle_scope == 'pool' then
    pause_pool(pause)
  end
  if record.cancel == 1 then
    end_unstarted(t, record, 'cancelled', 'cancelled', 'cancelled')
    return
  end
  local ready_at = pool.throttle_scope == 'task' and now + pause + spread(pause) or 0
  record.throttles = record.throttles + 1
  give_back(t, record, 'throttled', ready_at)
end

return answer_writes(function(item)
  return claim(item, TAKES_ACTIVE)
end, throttle)
