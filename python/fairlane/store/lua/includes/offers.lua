--- @include places
-- Offers the free slots of those workers that are live, in the order of preference. `slots`: how many of each; below 0, the
-- worker's share instead.
local function offer_places(incarnations, slots)
  if not incarnations[1] then
    return
  end
  local leases = redis.call('ZMSCORE', workers_key, unpack(incarnations))
  for i, incarnation in ipairs(incarnations) do
    local w = live_worker(incarnation)
    if w and w.state == 'live' and leases[i] and tonumber(leases[i]) > now then
      local share = math.max(0, -slots[i])
      if w.share ~= share then
        w.share, w.dirty = share, true
      end
      offer(incarnation, w, slots[i])
    end
  end
end

-- Leaves what was placed for its workers to take, and wakes them.
local function hand_over_all()
  for _, task in ipairs(placed) do
    hand_over(unpack(task))
    ring('worker:' .. task[7].incarnation)
  end
end
