--- @include write
--- @include write_tenants
--- @include write_tasks
-- The writes of a call: copies, sorted sets, events and bells.
local entry = false -- the rows of its event

local function write_pool()
  redis.call('HSET', pool_key, 'state', pack_pool_state(pool))
end

local function write_workers()
  for incarnation, w in pairs(workers) do
    if w and w.dirty then
      redis.call('HSET', worker_key, incarnation, pack_worker(w))
    end
  end
end

local function write_removals()
  if AS_SCRIPT and not next(removals) then
    redis.call('ZREM', timers_key, '')
  end
  for key, list in pairs(removals) do
    call_with_list('ZREM', key, list)
  end
end

local function write_additions()
  for key, list in pairs(additions) do
    call_with_list('ZADD', key, list)
  end
end

local function write_events()
  if entry then
    local most = math.min(pool.event_limit, math.floor(pool.event_bytes / pool.event_size))
    redis.call('XADD', events_key, 'MAXLEN', '~', most, '*', 'n', pool.events, 'at', now, 'by', COMMAND, 'rows', entry)
  end
end

local function write_bells()
  if stirred and pool.runnable > 0 and pool.slots < pool.capacity and pool.paused_until <= now then
    ring('dispatcher')
  end
  for sleeper in pairs(bells) do
    local key = bell_key(sleeper)
    if redis.call('LLEN', key) == 0 then
      redis.call('LPUSH', key, '1')
      redis.call('PEXPIRE', key, BELL_TTL)
    end
  end
end
