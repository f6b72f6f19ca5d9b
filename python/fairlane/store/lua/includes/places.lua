--- @include calendar
--- @include write_tasks
--- @include window_place
--- @include worker
-- The free slots that the dispatcher offers, and the handover of a task to one of them.
local places = {}
local placed = 0
local at = 1

local function hand_over(to, name, charge, period, windows)
  if not to.worker.dirty then
    to.worker.dirty = true
    ring('worker:' .. to.incarnation)
  end
  to.left = to.left - 1
  to.worker.load = to.worker.load + 1
  flights[#flights + 1] = name
  flights[#flights + 1] = pack_new_attempt(pool.fence, charge, period, windows, 0, 0, to.incarnation)
  zadd(to.handed, pool.fence, name)
end

local function open_places()
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
      places[#places + 1] = { incarnation = item.incarnation, worker = w, left = item.slots,
        handed = handed_key(item.incarnation) }
    end
  end
end

local function next_place()
  while places[at] do
    local place = places[at]
    if place.left > 0 and place.worker.load < place.worker.slots then
      return place
    end
    at = at + 1
  end
  return nil
end

local function place(t, charge)
  local cost, id = t.head_cost, t.head_id
  local to = next_place()
  pool.fence = pool.fence + 1
  pool.slots = pool.slots + 1
  pool.cost = pool.cost + cost
  t.slots = t.slots + 1
  t.cost = t.cost + cost
  if pool.policy == 'wdrr' then
    serve(t, charge)
  end
  local windows_taken = take_place(t, t.id, cost)
    + POOL_BITS * take_place(pool, POOL_OWNER, cost)
  unqueue(t, cost, id)
  placed = placed + 1
  hand_over(to, t.id .. ':' .. id, charge, t.period, windows_taken)
  event('enqueued', t.id, id, pool.fence, cost, charge, to.incarnation, deficit_of(t),
    t.owed)
end
