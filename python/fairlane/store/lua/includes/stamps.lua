--- @include tenant
-- The stamps of an owner's windows: one list for both kinds, oldest first. A stamp is {at, starts, spend}: a time, and the
-- amounts that it counts for in each kind. Each kind passes each stamp once, when the stamp has left that kind's
-- interval; stamps that both have passed are removed.
local passes_left = WINDOW_TRIM
local oldest = {} -- owner's name -> time of the oldest stamp that a kind has not passed; now if there is none

-- Passes stamps from index `count` on as long as they have left, that is, are not younger than `left`. Returns the new
-- index, the amounts of the passed stamps, and the time of the next stamp.
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

-- The interval of each kind. A kind that is off and holds nothing uses the other's, so that it keeps no stamp.
local function passing_intervals(owner)
  local starts, spend = owner.starts_interval, owner.spend_interval
  return owner.starts_limit + owner.starts_count == 0 and spend or starts,
    owner.spend_limit + owner.spend_sum == 0 and starts or spend
end

-- Lets each kind pass the stamps that have left. `lead`: how many stamps the starts are ahead of the spend.
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

-- Trims an owner's windows once a call; a call passes at most WINDOW_TRIM stamps of all owners together.
local function trim_windows(owner, name)
  if not oldest[name] then
    owner.moved = true
    local key = window_key(name)
    local passed
    passed, oldest[name] = pass_both(owner, key)
    if passed > 0 then
      later('LTRIM', key, passed, -1)
    end
    local holds = owner.starts_count + owner.spend_sum + math.abs(owner.lead)
    if holds + owner.starts_limit + owner.spend_limit == 0 then
      owner.trim_at = 0 -- no window, no stamp, and no open place
    elseif passes_left > 0 then
      owner.trim_at = now + math.max(passing_intervals(owner))
    end
  end
  return oldest[name]
end
