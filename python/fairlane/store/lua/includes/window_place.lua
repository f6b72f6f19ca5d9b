--- @include window
-- An attempt's place in the windows of its tenant and of the pool.

-- Takes a place in every window of the owner; returns which, as bits. Now and then it trims, so that a window that
-- never fills does not grow.
local function take_place(owner, name, cost)
  local taken = 0
  if owner.starts_limit > 0 then
    owner.starts_count = owner.starts_count + 1
    taken = taken + WINDOW_BITS.starts
  end
  if owner.spend_limit > 0 then
    owner.spend_sum = owner.spend_sum + cost
    taken = taken + WINDOW_BITS.spend
  end
  if taken > 0 and pool.fence % TRIM_EVERY == 0 then
    for kind in pairs(WINDOW_BITS) do
      if owner[kind .. '_limit'] > 0 then
        trim_window(kind, owner, name)
      end
    end
  end
  return taken
end

-- A place that was taken and never started is given back.
local function leave_place(owner, taken, cost)
  if taken % 2 == 1 then
    forget_entry('starts', owner, cost)
  end
  if taken >= WINDOW_BITS.spend then
    forget_entry('spend', owner, cost)
  end
end

local function stamp_place(name, taken, fence, cost)
  local member = string.format('%.0f:%.0f', fence, cost)
  if taken % 2 == 1 then
    zadd(window_key('starts', name), now, member)
  end
  if taken >= WINDOW_BITS.spend then
    zadd(window_key('spend', name), now, member)
  end
end
