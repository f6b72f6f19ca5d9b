--- @include context
-- A local copy of a worker incarnation; live_worker: nil if it is unknown or lost, and its writes are refused.
local function load_worker(incarnation)
  local w = workers[incarnation]
  if w == nil then
    local raw = redis.call('HMGET', worker_key(incarnation), unpack(WORKER_FIELDS))
    w = raw[1] and { name = raw[1], slots = tonumber(raw[2]), load = tonumber(raw[3]), state = raw[4],
      alone = tonumber(raw[5]) or 0 } or false
    workers[incarnation] = w
  end
  return w or nil
end

local function live_worker(incarnation)
  local w = load_worker(incarnation)
  return w and w.state ~= 'lost' and w or nil
end
