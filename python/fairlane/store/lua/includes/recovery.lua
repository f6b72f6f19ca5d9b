--- @include take_back
-- The end of a lost worker.
local function mark_lost(incarnation, w)
  if w.state ~= 'lost' then
    w.state = 'lost'
    w.dirty = true
    pool.fleet = pool.fleet + 1
    event('worker', incarnation, w.name, 'lost')
  end
end

local function forget(incarnation, w)
  w.dirty = false
  zrem(workers_key, incarnation)
  later('DEL', worker_key(incarnation), owned_key(incarnation), cancelling_key(incarnation),
    bell_key('worker:' .. incarnation))
  if redis.call('HGET', names_key, w.name) == incarnation then
    later('HDEL', names_key, w.name)
  end
end

-- Marks an incarnation lost and takes back at most `limit` tasks. Returns how many, and whether some are left.
local function recover(incarnation, limit)
  local w = load_worker(incarnation)
  if not w then
    zrem(workers_key, incarnation)
    return 0, false
  end
  mark_lost(incarnation, w)
  local names = redis.call('ZRANGE', owned_key(incarnation), 0, limit)
  local count = math.min(#names, limit)
  for i = 1, count do
    local tenant, id = split_name(names[i])
    take_back(load_tenant(tenant), load_record(tenant, id))
  end
  local more = #names > limit
  if more then
    zadd(workers_key, 0, incarnation)
  else
    forget(incarnation, w)
  end
  return count, more
end
