--- @include calendar
-- Writes everything this call decided. A full server refuses a script at its first write if that write may grow
-- memory: commit_growing() starts with HSET, so that such a call is refused whole; commit_draining() starts with
-- the removals, so that work can always end.
local function write_pool()
  redis.call('HSET', pool_key, 'state', pack_pool(pool))
end

local function write_tenants()
  for _, t in ipairs(touched) do
    redis.call('HSET', t.key, 'state', pack_tenant(t))
  end
end

local function write_workers()
  for incarnation, w in pairs(workers) do
    if w and w.dirty then
      redis.call('HSET', worker_key(incarnation), 'load', w.load, 'state', w.state)
    end
  end
end

local function call_with_list(command, key, list)
  for first = 1, #list, 1000 do
    redis.call(command, key, unpack(list, first, math.min(first + 999, #list)))
  end
end

local function write_removals()
  if not next(removals) then
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
  if #rows > 0 and pool.event_limit > 0 then
    redis.call('XADD', events_key, 'MAXLEN', '~', pool.event_limit, '*', 'n', pool.events, 'at', now, 'by', COMMAND,
      'rows', cmsgpack.pack(rows))
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

local function close_books()
  flush_queues()
  flush_calendar()
  if pool.live == 0 and pool.round > 0 then
    pool.round = 0
    pool.epoch = pool.epoch + 1
    event('epoch', pool.epoch)
  end
  if #rows > 0 and pool.event_limit > 0 then
    pool.events = pool.events + 1
  end
end

local function finish_commit()
  for _, command in ipairs(commands) do
    redis.call(unpack(command))
  end
  write_tenants()
  write_workers()
  write_events()
  write_bells()
end

local function commit_growing()
  close_books()
  write_pool()
  if next(removals) then
    write_removals()
  end
  write_additions()
  finish_commit()
end

local function commit_draining()
  close_books()
  write_removals()
  write_pool()
  write_additions()
  finish_commit()
end
