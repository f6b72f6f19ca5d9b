--- @include expiry
--- @include ramp
-- Rechecks a parked tenant whose window or budget may be open again.
local function recheck(t)
  if t and t.place ~= '' and t.place ~= 'calendar' then
    change_tenant(t)
    touch(t)
    if t.place ~= '' and t.place ~= 'calendar' then
      wake_later(t, t.place)
    end
  end
end

local function fire_task_timer(timer, kind, name)
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

-- Fires at most TIMER_LIMIT timers; the next call fires the rest. Returns how many.
local function fire_timers()
  local due = redis.call('ZRANGEBYSCORE', timers_key, '-inf', now, 'LIMIT', 0, TIMER_LIMIT)
  for _, timer in ipairs(due) do
    local kind, name = split_name(timer)
    if kind == 'window' or kind == 'budget' then
      zrem(timers_key, timer)
      recheck(load_tenant(name))
    else
      fire_task_timer(timer, kind, name)
    end
  end
  return #due
end

-- Milliseconds until the next timer is due; false if there is none.
-- `pool_reopens`: when the window of the pool that stopped this call reopens.
local function next_wake(pool_reopens)
  local first = redis.call('ZRANGE', timers_key, 0, 0, 'WITHSCORES')
  local at = first[2] and tonumber(first[2])
  -- Also when there is nothing to place: a submit during a pause rings no bell.
  if pool.paused_until > now and (not at or pool.paused_until < at) then
    at = pool.paused_until
  end
  if is_ramping() and pool.runnable > 0 then
    local opens = opens_beyond(pool.slots)
    at = at and math.min(at, opens) or opens
  end
  if pool_reopens and (not at or pool_reopens < at) then
    at = pool_reopens
  end
  return at and math.max(0, at - now) or false
end
