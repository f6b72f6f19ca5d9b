--- @include take_back
--- @include attempts
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
  later('HDEL', worker_key, incarnation)
  later('DEL', handed_key(incarnation), cancelling_key(incarnation), bell_key('worker:' .. incarnation))
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
  local held = attempts_of(incarnation, 0)
  local count = math.min(#held, limit)
  for i = 1, count do
    local tenant, id = split_name(held[i].name)
    take_back(load_tenant(tenant), load_record(tenant, id))
  end
  local more = #held > limit
  if more then
    zadd(workers_key, 0, incarnation)
  else
    forget(incarnation, w)
  end
  return count, more
end
