--- @include stamps
-- Sliding windows. The owner's record counts what its windows hold: stamps, and places that were taken at a dispatch and
-- have no stamp yet, which count as now. A stamp that has left the interval counts until it is passed: counting too much
-- is safe, and an open window is not read.
-- Kinds: `starts` counts attempts, `spend` sums their costs.
local function full_window(owner, cost)
  if owner.starts_limit > 0 and owner.starts_count >= owner.starts_limit then
    return 'starts'
  end
  return owner.spend_limit > 0 and owner.spend_sum + cost > owner.spend_limit and 'spend' or nil
end

-- The kind of window that this task would overfill, or nil.
local function closed_window(owner, name, cost)
  local kind = full_window(owner, cost)
  if kind then
    trim_windows(owner, name)
    kind = full_window(owner, cost)
  end
  return kind
end

-- When the oldest stamp leaves. Without stamps all places are open, and none leaves earlier than an interval from now.
local function reopens_at(kind, owner, name)
  return trim_windows(owner, name)[kind] + (kind == 'starts' and owner.starts_interval or owner.spend_interval)
end

-- After a change of limits: a window that was switched off keeps its interval, so that its stamps are passed in their
-- time; one that never was on has the other's interval.
local function keep_intervals(owner, starts, spend)
  if owner.starts_limit == 0 then
    owner.starts_interval = starts > 0 and starts or owner.spend_interval
  end
  if owner.spend_limit == 0 then
    owner.spend_interval = spend > 0 and spend or owner.starts_interval
  end
  owner.trim_at = math.min(owner.trim_at, now + math.max(passing_intervals(owner)))
end
