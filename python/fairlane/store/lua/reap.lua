-- Ends the incarnations whose lease ran out, and takes their tasks back, some at a time.
--
-- Guarantee: as evict. A margin beyond the lease lets a worker abort its calls first. After a gap in the server's own
--   time no lease counts as run out, for one lease.
-- KEYS[1]  the pool
-- ARGV     now_ms, {}
-- Reply    {tasks, more, {incarnation...}, next_ms|false, offset}
-- Events   worker, lost, cancelled, expired
--- @include commit
--- @include recovery
local margin = math.ceil(pool.lease / 4)
local latest = now < pool.grace_until and 0 or now - margin
local due = redis.call('ZRANGEBYSCORE', workers_key, '-inf', latest, 'LIMIT', 0, 16)
local left = RECOVERY_LIMIT
local more = #due == 16
for _, incarnation in ipairs(due) do
  if left <= 0 then
    more = true
    break
  end
  local count, rest = recover(incarnation, left)
  left = left - count
  more = more or rest
end
commit_draining()
local first = redis.call('ZRANGEBYSCORE', workers_key, '(0', '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
-- A reaper that calls at least this often leaves no gap that looks like a silent server.
local often = math.max(1, math.floor(pool.lease / 4))
local next_ms = first[2] and math.min(often, math.max(pool.grace_until - now, tonumber(first[2]) + margin - now, 1)) or false
return cmsgpack.pack({ RECOVERY_LIMIT - left, more, due, next_ms, math.floor(pool.offset) })
