--- @include task
-- The attempts of a worker that are in flight, with fences above the cursor, in their order: {fence, name}. Reads all that is
-- in flight: only for a worker that is lost, or that has lost a reply.
local function attempts_of(incarnation, cursor)
  local found = {}
  local raw = redis.call('HGETALL', flight_key)
  for i = 1, #raw, 2 do
    local _, fence, _, _, _, _, _, worker = read_attempt(raw[i + 1])
    if worker == incarnation and fence > cursor then
      found[#found + 1] = { fence = fence, name = raw[i] }
    end
  end
  table.sort(found, function(a, b) return a.fence < b.fence end)
  return found
end
