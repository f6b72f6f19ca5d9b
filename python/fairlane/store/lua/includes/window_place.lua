--- @include window
-- An attempt's place in the windows of its tenant and of the pool.
local stamps = {} -- owner's name -> {starts, spend} that this call stamps

-- Takes a place in every window of the owner; returns the windows as bits. Trims once an interval, so that windows that
-- never fill do not grow, and those that were switched off end.
local function take_place(owner, name, cost)
  local taken = 0
  if owner.starts_limit > 0 then
    owner.starts_count = owner.starts_count + 1
    taken = taken + STARTS_BIT
  end
  if owner.spend_limit > 0 then
    owner.spend_sum = owner.spend_sum + cost
    taken = taken + SPEND_BIT
  end
  if taken > 0 then
    owner.moved = true
  end
  if now >= owner.trim_at and (taken > 0 or owner.trim_at > 0) then
    trim_windows(owner, name)
  end
  return taken
end

-- Gives back the place of an attempt that never started.
local function leave_place(owner, taken, cost)
  owner.moved = true
  if taken % 2 == 1 then
    owner.starts_count = owner.starts_count - 1
  end
  if taken >= SPEND_BIT then
    owner.spend_sum = owner.spend_sum - cost
  end
end

local function stamp_place(name, taken, cost)
  local stamp = stamps[name]
  if not stamp then
    stamp = { 0, 0 }
    stamps[name] = stamp
  end
  if taken % 2 == 1 then
    stamp[1] = stamp[1] + 1
  end
  if taken >= SPEND_BIT then
    stamp[2] = stamp[2] + cost
  end
end

local function write_stamps()
  for name, stamp in pairs(stamps) do
    later('RPUSH', window_key(name), cmsgpack.pack(now, stamp[1], stamp[2]))
  end
end
