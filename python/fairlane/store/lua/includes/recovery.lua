--- @include attempt
-- Taking back what a lost worker held. What it had not started costs nothing; what it may have run counts a
-- recovery and keeps its charge.
local function take_back(t, record)
  if record.state == 'enqueued' then
    give_back(t, record, 'lost', 0)
  elseif record.cancel == 1 then
    end_failed(t, record, 'cancelled', 'cancelled', 0, 'cancelled', 'its worker was lost while it was being cancelled')
  elseif record.deadline > 0 and record.deadline <= now then
    end_failed(t, record, 'expired', 'expired', 0, 'deadline')
  elseif record.unknown == 'fail' then
    end_failed(t, record, 'lost', 'dead', record.cost, 'outcome_unknown', 'its worker was lost after it had started')
  elseif record.recoveries >= pool.max_recoveries then
    end_failed(t, record, 'lost', 'dead', 0, 'workers_lost',
      string.format('lost its worker %.0f times', record.recoveries + 1))
  else
    change_tenant(t)
    credit(t)
    free_hold(t, record)
    record.recoveries = record.recoveries + 1
    requeue(t, record, 'counts', pack_counts(record))
    ended(record, 'lost', t, 0, 0, 'pending')
    touch(t)
  end
end

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
