--- @include tenant
-- Sliding windows of starts. An entry is an open place from its dispatch on, which counts as now, and a stamp from
-- its start on. Kinds: `starts` counts entries, `spend` sums their costs.
local windows = {}

-- What a window holds now. Stamps that left the interval are removed, at most so many in a call: stopping early
-- over-counts, which is safe.
local function load_window(kind, owner, name)
  local key = window_key(kind, name)
  local w = windows[key]
  if w then
    return w
  end
  local interval = owner[kind .. '_interval']
  w = { key = key, interval = interval, limit = owner[kind .. '_limit'] }
  local passed = redis.call('ZRANGEBYSCORE', key, '-inf', now - interval, 'LIMIT', 0, WINDOW_TRIM)
  for _, member in ipairs(passed) do
    zrem(key, member)
    if kind == 'spend' then
      owner.spend_sum = owner.spend_sum - tonumber(string.match(member, ':(%d+)$'))
    end
  end
  w.count = redis.call('ZCARD', key) - #passed
  if kind == 'spend' and w.count == 0 then
    owner.spend_sum = 0
  end
  w.passed = #passed
  windows[key] = w
  return w
end

-- The kind of window that this task would overfill, or nil.
local function closed_window(owner, name, cost)
  if owner.starts_limit > 0 and load_window('starts', owner, name).count >= owner.starts_limit then
    return 'starts'
  end
  if owner.spend_limit > 0 then
    load_window('spend', owner, name)
    if owner.spend_sum + cost > owner.spend_limit then
      return 'spend'
    end
  end
  return nil
end

-- When the oldest entry leaves: a place that is still open leaves no earlier than from now on.
local function reopens_at(kind, owner, name)
  local w = load_window(kind, owner, name)
  local oldest = redis.call('ZRANGE', w.key, w.passed, w.passed, 'WITHSCORES')
  local stamp = tonumber(oldest[2] or OPEN_PLACE)
  return (stamp >= OPEN_PLACE and now or stamp) + w.interval
end
