-- The pool's numbers and the clock, read once per call.
-- A server that was stopped or hung must not make workers look dead: after a gap of more than half a lease nothing is
-- reaped for one lease.
local function load_pool()
  local raw = redis.call('HMGET', pool_key, 'settings', 'state')
  if not raw[1] and COMMAND ~= 'put_pool' then
    error('fairlane: no such pool')
  end
  return read_pool(raw[1] or NO_SETTINGS, raw[2])
end

-- Time is the server's, plus the offset by which its clock was set back: then time continues from the latest one, and loses
-- an eighth until both are the same. Small steps are waited for.
local clock_was_set = false

local function read_clock(pool)
  local now = tonumber(ARGV[1])
  if now == 0 then
    local time = redis.call('TIME')
    now = time[1] * 1000 + math.floor(time[2] / 1000)
  end
  local server = now
  now = math.floor(server + pool.offset)
  local behind = pool.now - now
  if behind > 0 and behind > pool.lease / 4 then
    pool.offset = pool.now - server
    event('clock', behind)
    clock_was_set = true
  elseif pool.offset > 0 and behind < 0 then
    pool.offset = math.max(0, pool.offset + behind / 8)
    now = math.floor(server + pool.offset)
  end
  now = math.max(now, pool.now)
  if pool.now > 0 and now - pool.now > pool.lease / 2 then
    pool.grace_until = now + pool.lease
  end
  pool.now = now
  return now
end
