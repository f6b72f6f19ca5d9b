-- Bytewise, as the server orders equal scores; Lua's own < follows the locale.
local function precedes(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then
      return x < y
    end
  end
  return #a < #b
end

local function comes_first(rank, id, other_rank, other_id)
  return rank < other_rank or (rank == other_rank and precedes(id, other_id))
end
