--- @include calendar
-- The writes of a call, each by kind.
local function flush_queues()
  for _, t in ipairs(touched) do
    if t.added then
      local key = pending_key(t.id)
      for _, task in ipairs(t.added) do
        zadd(key, task.score, task.member)
      end
    end
  end
end

local function flush_calendar()
  for _, t in ipairs(touched) do
    if t.rank then
      zadd(calendar_key, t.rank, t.id)
    elseif t.left and t.place ~= 'calendar' then
      zrem(calendar_key, t.id)
    end
    if t.place ~= '' and t.place ~= 'calendar' then
      later('HSET', parked_key, t.id, t.place)
    elseif t.unparked then
      later('HDEL', parked_key, t.id)
    end
  end
end
