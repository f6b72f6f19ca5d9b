--- @include calendar
--- @include write_tasks
--- @include window_place
--- @include worker
-- The free slots that this call offers, and the tasks that it has placed there.
local places = {}
local placed = {} -- in the order of their fences
local at = 1

-- `count`: how many of its slots are offered.
local function offer(incarnation, w, count)
  places[#places + 1] = { incarnation = incarnation, worker = w, left = count, handed = handed_key(incarnation) }
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
  to.left = to.left - 1
  to.worker.load = to.worker.load + 1
  to.worker.dirty = true
  placed[#placed + 1] = { t.id, id, pool.fence, charge, t.period, windows_taken, to }
  event('enqueued', t.id, id, pool.fence, cost, charge, to.incarnation, deficit_of(t),
    t.owed)
end

-- Leaves a placed task for its worker to take.
local function hand_over(tenant, id, fence, charge, period, windows, to)
  local name = tenant .. ':' .. id
  flights[#flights + 1] = name
  flights[#flights + 1] = pack_new_attempt(fence, charge, period, windows, 0, 0, to.incarnation)
  zadd(to.handed, fence, name)
end
