-- One tick of the controller: halve the capacity after throttles, give one slot back after a clean while.
--
-- Guarantee: the whole decision is this one step, so that any number of controllers act as one; a tick counts only
--   once per period. The capacity stays within 1 and the hard limit.
-- KEYS[1]  the pool
-- ARGV     now_ms, {period_ms, cooldown_ms, clean_ticks, minimum}
-- Reply    {before, after, reason, next_ms}
-- Events   capacity
--- @include commit
local asked = request()
for i = 1, 4 do
  if type(asked[i]) ~= 'number' or asked[i] < 0 or asked[i] ~= math.floor(asked[i]) then
    return redis.error_reply('ERR fairlane: the controller takes whole numbers from 0')
  end
end
local period, cooldown, clean_ticks = asked[1], asked[2], asked[3]
local minimum = math.max(1, math.min(asked[4], pool.hard_limit))
local before = pool.capacity
local cooling = pool.changed_at > 0 and now - pool.changed_at < cooldown

local function change(to, reason)
  pool.capacity = to
  pool.changed_at = now
  pool.clean_ticks = 0
  event('capacity', before, to, reason)
  stirred = true
  return reason
end

local function decide()
  local throttled = pool.throttles > pool.throttles_seen
  pool.throttles_seen = pool.throttles
  if throttled then
    pool.clean_ticks = 0
    if cooling then
      return 'cooldown'
    end
    local to = math.max(minimum, math.floor(before / 2))
    return to < before and change(to, 'throttled') or 'at_limit'
  end
  pool.clean_ticks = pool.clean_ticks + 1
  if before >= pool.hard_limit then
    return 'at_limit'
  elseif cooling then
    return 'cooldown'
  elseif pool.clean_ticks < clean_ticks then
    return 'settling'
  end
  return change(before + 1, 'recovered')
end

local next_tick = pool.ticked_at + period
if pool.ticked_at > 0 and now < next_tick then
  return cmsgpack.pack({ before, before, cooling and 'cooldown' or 'early', next_tick - now })
end
pool.ticked_at = now
local reason = decide()
commit_draining()
return cmsgpack.pack({ before, pool.capacity, reason, period })
