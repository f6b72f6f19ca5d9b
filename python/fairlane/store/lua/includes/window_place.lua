--- @include window
-- An attempt's place in the windows of its tenant and of the pool.
local function each_window(owner, name, act)
  for _, kind in ipairs({ 'starts', 'spend' }) do
    if owner[kind .. '_limit'] > 0 then
      act(kind, load_window(kind, owner, name))
    end
  end
end

-- Takes a place in every window of the owner; returns which, as bits.
local function take_place(owner, name, fence, cost)
  local taken = 0
  each_window(owner, name, function(kind, w)
    zadd(w.key, OPEN_PLACE, fence .. ':' .. cost)
    w.count = w.count + 1
    if kind == 'spend' then
      owner.spend_sum = owner.spend_sum + cost
    end
    taken = taken + WINDOW_BITS[kind]
  end)
  return taken
end

-- A place that was taken and never started is given back.
local function leave_place(owner, name, taken, fence, cost)
  for kind, bit in pairs(WINDOW_BITS) do
    if math.floor(taken / bit) % 2 == 1 then
      local w = load_window(kind, owner, name)
      zrem(w.key, fence .. ':' .. cost)
      w.count = w.count - 1
      if kind == 'spend' then
        owner.spend_sum = math.max(0, owner.spend_sum - cost)
      end
    end
  end
end

local function stamp_place(name, taken, fence, cost)
  for kind, bit in pairs(WINDOW_BITS) do
    if math.floor(taken / bit) % 2 == 1 then
      zadd(window_key(kind, name), now, fence .. ':' .. cost)
    end
  end
end
