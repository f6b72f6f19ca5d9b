--- @include context
-- The tasks that a worker should stop: {name, fence}.
local function stopping(incarnation)
  local raw = redis.call('ZRANGE', cancelling_key(incarnation), 0, 255, 'WITHSCORES')
  local list = {}
  for i = 1, #raw, 2 do
    list[#list + 1] = { raw[i], tonumber(raw[i + 1]) }
  end
  return list
end
