--- @include attempt
-- What the clock does to tasks: deadlines, and waits that are over.
local function drop_pending(t, record, attempt, state, code)
  change_tenant(t)
  credit(t)
  if record.ready_at > 0 then
    t.waiting = t.waiting - 1
    zrem(timers_key, 'ready:' .. name_of(record))
  else
    unqueue(t, member_of(record))
  end
  event(attempt, record.tenant, record.id, 0, 0, 0, t.ratio, state, 0)
  touch(t)
  finish(record, state, 0, '', code)
end

local function expire(t, record)
  if record.state == 'pending' then
    drop_pending(t, record, 'expired', 'expired', 'deadline')
  elseif record.state == 'enqueued' then
    end_unstarted(t, record, 'expired', 'expired', 'deadline')
  else
    -- Its worker watches an active task's deadline, and recovery does if the worker is lost.
    zrem(timers_key, 'deadline:' .. name_of(record))
  end
end

local function make_ready(t, record)
  if record.state ~= 'pending' or record.ready_at == 0 then
    return
  end
  change_tenant(t)
  credit(t)
  t.waiting = t.waiting - 1
  record.ready_at = 0
  later('HSET', record.key, 'ready_at', 0)
  zrem(timers_key, 'ready:' .. name_of(record))
  enqueue(t, { member = member_of(record), score = record.score, cost = record.cost, id = record.id })
  event('ready', record.tenant, record.id)
  touch(t)
end

-- Fires at most TIMER_LIMIT timers; what is left is due in the next call.
local function fire_timers()
  local due = redis.call('ZRANGEBYSCORE', timers_key, '-inf', now, 'LIMIT', 0, TIMER_LIMIT)
  for _, timer in ipairs(due) do
    local kind, name = split_name(timer)
    local tenant, id = split_name(name)
    local record = load_record(tenant, id)
    local t = load_tenant(tenant)
    if not record or not t then
      zrem(timers_key, timer)
    elseif kind == 'deadline' then
      expire(t, record)
    else
      make_ready(t, record)
    end
  end
end

-- Milliseconds until something is due by itself; false if nothing is.
local function next_wake()
  local first = redis.call('ZRANGE', timers_key, 0, 0, 'WITHSCORES')
  local at = first[2] and tonumber(first[2])
  if pool.paused_until > now and pool.runnable > 0 and (not at or pool.paused_until < at) then
    at = pool.paused_until
  end
  return at and math.max(0, at - now) or false
end
