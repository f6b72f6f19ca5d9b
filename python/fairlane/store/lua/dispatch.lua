-- Chooses the next tasks, holds their cost and slots and hands them to workers, in one step.
--
-- Guarantee: a placed task is held, counted and owned by a worker, or nothing happened. Repeating places more tasks,
--   never the same one. No ceiling is exceeded.
-- KEYS[1]  the pool
-- ARGV     now_ms, {limit, keep, unused, {{incarnation, slots}...}}, in the order of preference; keep: how many of the places
--          that are left become the plan for the next tasks, if none waits; unused: what the caller knows to be left of its
--          former plan, or 0
-- Reply    {placed, stop, runnable, wake_ms|false, fleet, unused, kept|false, {incarnation, free}...}; unused: places of the
--          former plan that no submit has taken; kept: places that are the plan now, false if the former one stands
-- Events   enqueued, rejected, parked, round, and from due timers: expired, ready
--- @include commit
--- @include timers
--- @include plan
local incarnations, slots = {}, {}
for i, item in ipairs(request.items) do
  incarnations[i], slots[i] = item.incarnation, item.slots
end
fire_timers()
offer_places(incarnations, slots)
local stop = serve_tenants(request.limit)
hand_over_all()
local pool_reopens = (stop == 'starts' or stop == 'spend') and reopens_at(stop, pool, POOL_OWNER)
local unused, kept = planned(), plan_rest(request.keep, request.unused)
commit_growing()

local reply = { #placed, stop, pool.runnable, next_wake(pool_reopens), pool.fleet, unused, kept }
for _, each in ipairs(places) do
  reply[#reply + 1] = { each.incarnation, each.worker.slots - each.worker.load }
end
return cmsgpack.pack(reply)
