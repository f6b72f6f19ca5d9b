--- @include tenant
-- The stamps of an owner's windows: one list for both kinds, oldest first. A stamp is {at, starts, spend}: when, and what
-- it counts for in each kind. Each kind passes each stamp once, when it has left that kind's interval; what both have
-- passed is removed.
local passes_left = WINDOW_TRIM
local oldest = {} -- owner's name -> when the oldest stamp was made that a kind has not passed; now if there is none

-- Goes on from the stamp behind `count` others while stamps have left, which is to say are no younger than `left`.
-- Returns how many it has come past in all, what the new ones counted for, and when the next one was made.
local function pass(key, count, left)
  local starts, spend, size = 0, 0, 8
  repeat
    size = math.min(2 * size, 256)
    local page = redis.call('LRANGE', key, count, count + size - 1)
    for _, stamp in ipairs(page) do
      local at, more_starts, more_spend = cmsgpack.unpack(stamp)
      if at > left or passes_left == 0 then
        return count, starts, spend, at
      end
      passes_left = passes_left - 1
      count = count + 1
      starts = starts + more_starts
      spend = spend + more_spend
    end
  until #page < size
  return count, starts, spend, now
end

-- The intervals by which each kind passes. One that is off and holds nothing has the other's, and keeps no stamp.
local function passing_intervals(owner)
  local starts, spend = owner.starts_interval, owner.spend_interval
  return owner.starts_limit + owner.starts_count == 0 and spend or starts,
    owner.spend_limit + owner.spend_sum == 0 and starts or spend
end

-- Lets each kind pass what has left. `lead` is by how many stamps the starts are ahead of the spend.
local function pass_both(owner, key)
  local starts_interval, spend_interval = passing_intervals(owner)
  local starts_left, spend_left = now - starts_interval, now - spend_interval
  local passed, starts, spend, at = pass(key, math.max(0, owner.lead), starts_left)
  owner.starts_count = owner.starts_count - starts
  local behind, next_at = passed, at
  if owner.lead ~= 0 or starts_left ~= spend_left then
    behind, starts, spend, next_at = pass(key, math.max(0, -owner.lead), spend_left)
  end
  owner.spend_sum = owner.spend_sum - spend
  owner.lead = passed - behind
  return math.min(passed, behind), { starts = at, spend = next_at }
end

-- Trims an owner's windows, once in a call, by no more than WINDOW_TRIM stamps of all owners.
local function trim_windows(owner, name)
  if not oldest[name] then
    local key = window_key(name)
    local passed
    passed, oldest[name] = pass_both(owner, key)
    if passed > 0 then
      later('LTRIM', key, passed, -1)
    end
    local holds = owner.starts_count + owner.spend_sum + math.abs(owner.lead)
    if holds + owner.starts_limit + owner.spend_limit == 0 then
      owner.trim_at = 0 -- no window, no stamp, and no place that will have one
    elseif passes_left > 0 then
      owner.trim_at = now + math.max(passing_intervals(owner))
    end
  end
  return oldest[name]
end
