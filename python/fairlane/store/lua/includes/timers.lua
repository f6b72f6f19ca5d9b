--- @include expiry
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
