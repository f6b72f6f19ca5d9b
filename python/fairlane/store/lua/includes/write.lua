--- @include calendar
-- The writes of a call, each by kind.
local function flush_queues()
  for _, t in ipairs(touched) do
    has_head(t)
    if t.added then
      local key = queue_key(t)
      for _, task in ipairs(t.added) do
        zadd(key, task.score, member_of(task.cost, task.id))
      end
    end
  end
end

local function flush_calendar()
  for _, t in ipairs(touched) do
    if t.entry and (t.place ~= 'calendar' or t.arrival ~= t.entry) then
      zrem(calendar_key, entry_of(t, t.entry))
    end
    if t.rank and not (t.entry == t.arrival and t.rank == t.ranked) then
      zadd(calendar_key, t.rank, entry_of(t, t.arrival))
    end
    if t.place ~= '' and t.place ~= 'calendar' then
      later('HSET', parked_key, t.id, t.place)
    elseif t.unparked then
      later('HDEL', parked_key, t.id)
    end
  end
end
