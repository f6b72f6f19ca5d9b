-- Sets the capacity, as an operator.
--
-- Guarantee: never above the hard limit.
-- KEYS[1]  the pool
-- ARGV     now_ms, {slots}
-- Reply    the capacity in force
-- Events   capacity
--- @include commit
local slots = request.slots
if type(slots) ~= 'number' or slots < 1 or slots ~= math.floor(slots) then
  return redis.error_reply('ERR fairlane: slots must be a whole number from 1')
end
local before = pool.capacity
local after = math.min(slots, pool.hard_limit)
if after ~= before then
  pool.capacity = after
  pool.changed_at = now
  event('capacity', before, after, 'set')
  stirred = true
  commit_draining()
end
return cmsgpack.pack(after)
