-- Chooses the next tasks, holds their cost and slots and hands them to workers, in one step.
--
-- Guarantee: a placed task is held, counted and owned by a worker, or nothing happened. Repeating places more tasks,
--   never the same one. No ceiling is exceeded.
-- KEYS[1]  the pool
-- ARGV     now_ms, {limit, {{incarnation, slots}...}}, in the order of preference
-- Reply    {placed, stop, runnable, wake_ms|false, fleet, {incarnation, free}...}
-- Events   enqueued, rejected, parked, round, and from due timers: expired, ready
--- @include commit
--- @include agenda
--- @include timers
--- @include places
--- @include rebase
local limit = request.limit
local visits = 0 -- those that served nothing

local function stop_reason()
  if placed >= limit then
    return 'batch'
  end
  return pool_stop() or (not next_place() and 'workers') or nil
end

local function reject(t, code)
  local record = load_record(t.id, t.head_id)
  event('end', 'rejected', t.id, t.head_id, 0, 0, 0, t.ratio, 'rejected', 0)
  unqueue(t, t.head_cost, t.head_id)
  finish(record, 'rejected', 0, '', code)
end

-- Serves, rejects or parks a tenant's next task. Returns why the whole call must stop, or nil.
local function visit(t)
  change_tenant(t)
  t.rank = false
  local blocked = blocking(t)
  local stop = nil
  if is_hopeless(t) then
    reject(t, 'cost_above_ceiling')
    visits = visits + 1
  elseif blocked then
    park(t, blocked)
    visits = visits + 1
    return nil
  elseif t.budget_rejects == 1 and over_budget(t, t.head_cost) then
    reject(t, 'budget_exhausted')
    visits = visits + 1
  else
    stop = pool_stop(t.head_cost)
    if not stop then
      place(t, charge_of(t, t.head_cost))
    end
  end
  touch(t)
  if t.rank then
    reinsert(t)
  end
  return stop
end

local function run()
  open_agenda()
  while visits < VISIT_LIMIT do
    local stop = stop_reason()
    if stop then
      return stop
    end
    local t = next_tenant()
    if not t then
      return 'empty'
    end
    stop = visit(t)
    if stop then
      return stop
    end
  end
  return 'visits'
end

local function rounds_passed()
  return math.floor((pool.rebased + pool.virtual_time) / pool.quantum)
end

local round = rounds_passed()
fire_timers()
open_places()
local stop = run()
if rounds_passed() > round then
  event('round', rounds_passed(), pool.quantum)
end
local pool_reopens = (stop == 'starts' or stop == 'spend') and reopens_at(stop, pool, POOL_OWNER)
rebase_pool()
commit_growing()

local reply = { placed, stop, pool.runnable, next_wake(pool_reopens), pool.fleet }
for _, each in ipairs(places) do
  reply[#reply + 1] = { each.incarnation, each.worker.slots - each.worker.load }
end
return cmsgpack.pack(reply)
