--- @include entry
-- Tenants stopped by a limit of their own.
local CURED_BY_TIME = { starts = true, spend = true, budget = true }

-- Sets the timer that rechecks a tenant whose limit opens with time. A top-up needs a timer too: it ends with its period,
-- and then the budget may never pay for the next task.
local function wake_later(t, reason)
  if reason == 'starts' or reason == 'spend' then
    zadd(timers_key, reopens_at(reason, t, t.id), 'window:' .. t.id)
  end
  if t.period_end > 0 and (reason == 'budget' or t.top_up > 0) then
    zadd(timers_key, t.period_end, 'budget:' .. t.id)
  end
end

-- After a change of limits: a tenant that stays parked gets the timers of the new limits.
local function look_later(t)
  if t.place ~= '' and t.place ~= 'calendar' then
    wake_later(t, t.place)
    ring('dispatcher')
  end
end

local function unpark(t)
  if t.place ~= '' and t.place ~= 'calendar' then
    t.unparked = true
    event('released', t.id, math.min(0, deficit_of(t)))
  end
end

local function park(t, reason)
  leave_calendar(t, reason)
  wake_later(t, reason)
  event('parked', t.id, reason)
end
