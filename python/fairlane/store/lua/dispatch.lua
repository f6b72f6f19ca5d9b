-- Chooses the next tasks, holds their cost and slots and hands them to workers, in one step.
--
-- Guarantee: a placed task is held, counted and owned by a worker, or nothing happened. Repeating places more tasks,
--   never the same one. No ceiling is exceeded.
-- KEYS[1]  the pool
-- ARGV     now_ms, {limit, {{incarnation, slots}...}}, in the order of preference
-- Reply    {placed, stop, runnable, wake_ms|false, fleet, {incarnation, free}...}
-- Events   enqueued, rejected, parked, round, and from due timers: expired, ready
--- @include commit
--- @include timers
--- @include serving
local function offer_places()
  local incarnations = {}
  for i, item in ipairs(request.items) do
    incarnations[i] = item.incarnation
  end
  if #incarnations == 0 then
    return
  end
  local leases = redis.call('ZMSCORE', workers_key, unpack(incarnations))
  for i, item in ipairs(request.items) do
    local w = live_worker(item.incarnation)
    if w and w.state == 'live' and leases[i] and tonumber(leases[i]) > now then
      offer(item.incarnation, w, item.slots)
    end
  end
end

fire_timers()
offer_places()
local stop = serve_tenants(request.limit)
for _, task in ipairs(placed) do
  hand_over(unpack(task))
end
for _, each in ipairs(places) do
  if each.worker.dirty then
    ring('worker:' .. each.incarnation)
  end
end
local pool_reopens = (stop == 'starts' or stop == 'spend') and reopens_at(stop, pool, POOL_OWNER)
commit_growing()

local reply = { #placed, stop, pool.runnable, next_wake(pool_reopens), pool.fleet }
for _, each in ipairs(places) do
  reply[#reply + 1] = { each.incarnation, each.worker.slots - each.worker.load }
end
return cmsgpack.pack(reply)
