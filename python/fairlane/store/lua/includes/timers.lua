--- @include expiry
--- @include ramp
-- A tenant whose window or budget may be open again.
local function look_again(t)
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

-- Fires at most TIMER_LIMIT timers; what is left is due in the next call.
local function fire_timers()
  local due = redis.call('ZRANGEBYSCORE', timers_key, '-inf', now, 'LIMIT', 0, TIMER_LIMIT)
  for _, timer in ipairs(due) do
    local kind, name = split_name(timer)
    if kind == 'window' or kind == 'budget' then
      zrem(timers_key, timer)
      look_again(load_tenant(name))
    else
      fire_task_timer(timer, kind, name)
    end
  end
end

-- Milliseconds until something is due by itself; false if nothing is.
-- `pool_reopens`: when a window of the pool does, if one stopped this call.
local function next_wake(pool_reopens)
  local first = redis.call('ZRANGE', timers_key, 0, 0, 'WITHSCORES')
  local at = first[2] and tonumber(first[2])
  -- Also with nothing to place: what is submitted during a pause rings nobody.
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
