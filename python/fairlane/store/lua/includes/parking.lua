--- @include entry
-- Tenants stopped by a limit of their own.
local CURED_BY_TIME = { starts = true, spend = true, budget = true }

-- What only time can cure is looked at again when its time comes.
local function wake_later(t, reason)
  if reason == 'starts' or reason == 'spend' then
    zadd(timers_key, reopens_at(reason, t, t.id), 'window:' .. t.id)
  elseif reason == 'budget' and t.period_end > 0 then
    zadd(timers_key, t.period_end, 'budget:' .. t.id)
  end
end

local function unpark(t)
  if t.place ~= '' and t.place ~= 'calendar' then
    t.credited = pool.round
    t.unparked = true
    event('released', t.id, t.deficit)
  end
end

local function park(t, reason)
  leave_calendar(t, reason)
  wake_later(t, reason)
  event('parked', t.id, reason)
end
