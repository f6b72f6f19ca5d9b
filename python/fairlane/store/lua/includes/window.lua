--- @include tenant
-- Sliding windows of starts. The owner's record counts what a window holds: stamps, and places that were taken at a
-- dispatch and have no stamp yet, which count as now. The set holds the stamps. A stamp that left the interval counts
-- until it is trimmed: over-counting is safe, and a window that is open is not read at all.
-- Kinds: `starts` counts entries, `spend` sums their costs.
local trimmed = {}

local function forget_entry(kind, owner, cost)
  if kind == 'starts' then
    owner.starts_count = math.max(0, owner.starts_count - 1)
  else
    owner.spend_sum = math.max(0, owner.spend_sum - cost)
  end
end

-- Forgets stamps that left the interval, once and at most so many in a call. Returns how many.
local function trim_window(kind, owner, name)
  local key = window_key(kind, name)
  if not trimmed[key] then
    local passed = redis.call('ZRANGEBYSCORE', key, '-inf', now - owner[kind .. '_interval'], 'LIMIT', 0, WINDOW_TRIM)
    for _, member in ipairs(passed) do
      zrem(key, member)
      forget_entry(kind, owner, tonumber(string.match(member, ':(%d+)$')))
    end
    trimmed[key] = #passed
  end
  return trimmed[key]
end

local function starts_full(owner)
  return owner.starts_limit > 0 and owner.starts_count >= owner.starts_limit
end

local function spend_full(owner, cost)
  return owner.spend_limit > 0 and owner.spend_sum + cost > owner.spend_limit
end

-- The kind of window that this task would overfill, or nil.
local function closed_window(owner, name, cost)
  if starts_full(owner) then
    trim_window('starts', owner, name)
    if starts_full(owner) then
      return 'starts'
    end
  end
  if spend_full(owner, cost) then
    trim_window('spend', owner, name)
    if spend_full(owner, cost) then
      return 'spend'
    end
  end
  return nil
end

-- When the oldest stamp leaves; without one, places are all open and leave no earlier than from now on.
local function reopens_at(kind, owner, name)
  local passed = trim_window(kind, owner, name)
  local oldest = redis.call('ZRANGE', window_key(kind, name), passed, passed, 'WITHSCORES')
  return (tonumber(oldest[2]) or now) + owner[kind .. '_interval']
end
