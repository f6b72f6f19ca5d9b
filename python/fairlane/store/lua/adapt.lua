-- One tick of the controller: halves the capacity after throttles, adds one slot after enough ticks without a throttle.
--
-- Guarantee: the decision is one step, so that any number of controllers act as one; only one tick a period counts. The
--   capacity stays between 1 and the hard limit.
-- KEYS[1]  the pool
-- ARGV     now_ms, {period_ms, cooldown_ms, clean_ticks, minimum_slots}
-- Reply    {before, after, reason, next_ms}
-- Events   capacity
--- @include commit
local function is_whole(value)
  return type(value) == 'number' and value >= 0 and value == math.floor(value)
end

local period = request.period_ms
if not (is_whole(period) and is_whole(request.cooldown_ms) and is_whole(request.clean_ticks)
    and is_whole(request.minimum_slots)) then
  return redis.error_reply('ERR fairlane: adapt takes whole numbers from 0')
end
local minimum = math.max(1, math.min(request.minimum_slots, pool.hard_limit))
local before = pool.capacity
local cooling = pool.changed_at > 0 and now - pool.changed_at < request.cooldown_ms

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
  elseif pool.clean_ticks < request.clean_ticks then
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
