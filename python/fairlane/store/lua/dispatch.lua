-- Chooses the next tasks, holds their cost and slots and hands them to workers, in one step.
--
-- Guarantee: a placed task is held, counted and owned by a worker, or nothing happened. Repeating places more tasks,
--   never the same one. No ceiling is exceeded.
-- KEYS[1]  the pool
-- ARGV     now_ms, {limit, {{incarnation, slots}...}}, in the order of preference
-- Reply    {placed, stop, runnable, wake_ms|false, fleet, {incarnation, free}...}
-- Events   enqueued, rejected, parked, and from due timers: expired, ready
--- @include commit
--- @include agenda
--- @include timers
--- @include places
local limit = request.limit
local visits = 0

local function stop_reason()
  if placed >= limit then
    return 'batch'
  end
  return pool_stop() or (not next_place() and 'workers') or nil
end

local function reject(t, head, code)
  local record = load_record(t.id, head.id)
  unqueue(t, head.member)
  event('rejected', t.id, head.id, 0, 0, 0, t.ratio, 'rejected', 0)
  finish(record, 'rejected', 0, '', code)
end

-- Serves one tenant until its credit, its queue or its room is used up. Returns why the whole call must stop, or nil.
local function visit(rank, t)
  change_tenant(t)
  t.rank = false
  if pool.policy == 'wdrr' then
    pool.round = math.max(pool.round, rank)
    t.deficit = t.deficit + (rank - t.credited) * t.weight * pool.quantum
    t.credited = rank
  end
  while true do
    local head = head_of(t)
    local charge = head and charge_of(t, head.cost)
    local blocked = head and blocking(t, head)
    local stop = nil
    if not head then
      touch(t)
      return nil
    elseif is_hopeless(t, head) then
      reject(t, head, 'cost_above_ceiling')
      visits = visits + 1
      stop = visits >= VISIT_LIMIT and 'visits' or nil
    elseif pool.policy == 'wdrr' and charge > t.deficit then
      touch(t)
      reinsert(t)
      return nil
    elseif blocked then
      park(t, blocked)
      return nil
    elseif t.budget_rejects == 1 and over_budget(t, head.cost) then
      reject(t, head, 'budget_exhausted')
      visits = visits + 1
      stop = visits >= VISIT_LIMIT and 'visits' or nil
    else
      stop = pool_stop(head)
      if not stop then
        place(t, head, charge)
        stop = stop_reason()
      end
    end
    if stop then
      touch(t)
      return stop
    end
    if pool.policy ~= 'wdrr' then
      touch(t)
      if t.rank then
        reinsert(t)
      end
      return nil
    end
  end
end

local function run()
  open_agenda()
  while visits < VISIT_LIMIT do
    visits = visits + 1
    local stop = stop_reason()
    if stop then
      return stop
    end
    local rank, t = next_tenant()
    if not t then
      return 'empty'
    end
    stop = visit(rank, t)
    if stop then
      return stop
    end
  end
  return 'visits'
end

fire_timers()
open_places()
local stop = run()
local pool_reopens = (stop == 'starts' or stop == 'spend') and reopens_at(stop, pool, POOL_OWNER)
commit_growing()

local reply = { placed, stop, pool.runnable, next_wake(pool_reopens), pool.fleet }
for _, each in ipairs(places) do
  reply[#reply + 1] = { each.incarnation, each.worker.slots - each.worker.load }
end
return cmsgpack.pack(reply)
