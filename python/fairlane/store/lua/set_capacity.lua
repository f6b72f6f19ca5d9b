-- Sets the capacity, as an operator.
--
-- Guarantee: never above the hard limit.
-- KEYS[1]  the pool
-- ARGV     now_ms, {slots}
-- Reply    the capacity in force
-- Events   capacity
--- @include commit
local before = pool.capacity
local after = math.min(request()[1], pool.hard_limit)
if after ~= before then
  pool.capacity = after
  pool.changed_at = now
  event('capacity', before, after, 'set')
  stirred = true
  commit_draining()
end
return cmsgpack.pack(after)
