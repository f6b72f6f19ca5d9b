--- @include deficit
--- @include queue
--- @include gates
-- The calendar: when each tenant's head becomes affordable. See docs/fairness.md.
-- Where a tenant with a pending task stands in the calendar.
local function rank_of(t)
  local head = head_of(t)
  if pool.policy ~= 'wdrr' then
    return head.score
  end
  local missing = charge_of(t, head.cost) - t.deficit
  if missing <= 0 then
    return math.max(t.credited, pool.round)
  end
  return math.max(t.credited + ceil_div(missing, t.weight * pool.quantum), pool.round)
end

local function enter_calendar(t)
  if t.place ~= 'calendar' then
    t.place = 'calendar'
    pool.runnable = pool.runnable + 1
  end
  t.rank = rank_of(t)
end

local function leave_calendar(t, place)
  if t.place == 'calendar' then
    pool.runnable = pool.runnable - 1
    t.left = true
  end
  t.place = place
  t.rank = false
end

local function unpark(t)
  if t.place ~= '' and t.place ~= 'calendar' then
    t.credited = pool.round
    t.unparked = true
    event('released', t.id, t.deficit)
  end
end

-- What only time can cure is looked at again when its time comes.
local function wake_later(t, reason)
  if reason == 'starts' or reason == 'spend' then
    zadd(timers_key, reopens_at(reason, t, t.id), 'window:' .. t.id)
  elseif reason == 'budget' and t.period_end > 0 then
    zadd(timers_key, t.period_end, 'budget:' .. t.id)
  end
end

-- The only writer of a calendar entry. Call credit() first, then make the change, then this.
local function touch(t)
  local head = head_of(t)
  if not head then
    t.deficit = math.min(t.deficit, 0)
    unpark(t)
    leave_calendar(t, '')
  elseif t.place == '' then
    settle_debt(t)
    if t.deficit ~= 0 then
      event('entered', t.id, t.deficit)
    end
    enter_calendar(t)
  elseif t.place == 'calendar' then
    enter_calendar(t)
  else
    local reason = not is_hopeless(t, head) and blocking(t, head)
    if not reason then
      unpark(t)
      enter_calendar(t)
    elseif reason ~= t.place then
      t.place = reason
      wake_later(t, reason)
    end
  end
end

local function park(t, reason)
  leave_calendar(t, reason)
  wake_later(t, reason)
  event('parked', t.id, reason)
end
