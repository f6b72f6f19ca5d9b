--- @include tenant
--- @include queue
--- @include gates
-- Deficits and the calendar: when each tenant's head becomes affordable. See docs/fairness.md.
local function ceil_div(a, b)
  local floor = math.floor(a / b)
  return floor * b < a and floor + 1 or floor
end

local function charge_of(t, cost)
  return math.max(1, ceil_div(cost * t.ratio, 1000))
end

local function add_deficit(t, amount)
  t.deficit = math.max(t.deficit + amount, MIN_DEFICIT)
end

-- Rounds that passed since the tenant was last credited. Only a tenant in the calendar earns them.
local function credit(t)
  if t.place == 'calendar' and pool.policy == 'wdrr' then
    t.deficit = t.deficit + (pool.round - t.credited) * t.weight * pool.quantum
    t.credited = pool.round
  end
end

-- While a tenant has nothing to do, rounds pay off its debt but never give it credit.
local function settle_debt(t)
  if t.deficit < 0 then
    local per_round = t.weight * pool.quantum
    local passed = pool.round - t.credited
    if passed >= ceil_div(-t.deficit, per_round) then
      t.deficit = 0
    else
      t.deficit = t.deficit + passed * per_round
    end
  else
    t.deficit = 0
  end
  t.credited = pool.round
end

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
  elseif is_hopeless(t, head) or not blocking(t, head) then
    unpark(t)
    enter_calendar(t)
  end
end

local function park(t, reason)
  leave_calendar(t, reason)
  event('parked', t.id, reason)
end

local function flush_calendar()
  for _, t in ipairs(touched) do
    if t.rank then
      zadd(calendar_key, t.rank, t.id)
    elseif t.left and t.place ~= 'calendar' then
      zrem(calendar_key, t.id)
    end
    if t.place ~= '' and t.place ~= 'calendar' then
      later('HSET', parked_key, t.id, t.place)
    elseif t.unparked then
      later('HDEL', parked_key, t.id)
    end
  end
end
