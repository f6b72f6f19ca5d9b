--- @include virtual_time
-- How many quanta of service per weight have passed.
local function rounds_passed()
  return math.floor((pool.rebased + pool.virtual_time) / pool.quantum)
end

local round = rounds_passed()

local function note_round()
  if rounds_passed() > round then
    event('round', rounds_passed(), pool.quantum)
  end
end
