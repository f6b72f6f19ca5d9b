-- Whether a setting is within its bounds.
local function is_within(value, bounds)
  return type(value) == 'number' and value == math.floor(value) and value >= bounds[1] and value <= bounds[2]
end
