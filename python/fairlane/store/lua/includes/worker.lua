--- @include context
-- A local copy of a worker incarnation; live_worker: nil if it is unknown or lost, and its writes are refused.
local function load_worker(incarnation)
  local w = workers[incarnation]
  if w == nil then
    local raw = redis.call('HGET', worker_key, incarnation)
    w = raw and read_worker(raw) or false
    workers[incarnation] = w
  end
  return w or nil
end

local function live_worker(incarnation)
  local w = load_worker(incarnation)
  return w and w.state ~= 'lost' and w or nil
end
