-- Ends attempts that the provider did not take: nothing is charged, no failure is counted, the task keeps its place.
--
-- Guarantee: as settle. The pool, or only the task, waits for the pause the provider named, or a short one if it
--   named 0. A throttle never opens a slot sooner than it would have opened without it.
-- KEYS[1]  the pool
-- ARGV     now_ms, {incarnation, {tenant, id, fence, retry_after_ms (-1: none named)}...}
-- Reply    {write...} in the order asked
-- Events   throttled, cancelled, paused
--- @include commit
--- @include claim
--- @include ramp
local asked = request()
local incarnation = asked[1]
local SHORTEST_PAUSE = 10

-- A provider that says "at once" and throttles again would be called without end: the wait doubles with each throttle
-- that the task has met.
local function pause_of(record, named)
  if named > 0 then
    return named
  end
  return named < 0 and pool.default_pause or math.min(pool.default_pause, SHORTEST_PAUSE * 2 ^ record.throttles)
end

local function pause_pool(pause)
  local before = pool.paused_until
  pause_until(now + pause, pause)
  if pool.paused_until > before then
    event('paused', pool.paused_until)
    ring('dispatcher')
  end
end

-- Tasks that wait for the same moment each by itself come back evenly over the ramp: the multiples of the golden
-- ratio, here by 65536, lie between each other, however many there are.
local function spread(pause)
  local place = (pool.throttles % 65536) * 40503 % 65536
  return math.floor(math.min(pause, pool.resume_ramp) * place / 65536)
end

local function throttle(t, record, item)
  local pause = pause_of(record, item[4])
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
  give_back(t, record, 'throttled', ready_at, 'counts', pack_counts(record))
end

return answer_writes(asked, function(item)
  return claim(incarnation, item, TAKES_ACTIVE)
end, throttle)
