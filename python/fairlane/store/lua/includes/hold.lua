--- @include correction
--- @include window_place
--- @include finish
--- @include worker
-- The hold of an attempt, and how it ends.
local function free_hold(t, record)
  t.slots = t.slots - 1
  if pool.policy == 'wdrr' then
    t.charged = t.charged - record.charge
  end
  end_hold(t, record)
  if record.state == 'active' then
    pool.active = pool.active - 1
  else
    if record.windows > 0 then
      leave_place(t, record.windows % POOL_BITS, record.cost)
      leave_place(pool, math.floor(record.windows / POOL_BITS), record.cost)
    end
    zrem(handed_key(record.worker), record.name)
  end
  pool.slots = pool.slots - 1
  pool.cost = pool.cost - record.cost
  local w = load_worker(record.worker)
  if w then
    w.load = w.load - 1
    w.dirty = true
    if w.alone == record.fence then
      w.alone = 0
    end
  end
  if record.cancel == 1 then
    zrem(cancelling_key(record.worker), record.name)
  end
  stirred = true
end

local function ended(record, attempt, t, actual, state, ready_at)
  event('end', attempt, record.tenant, record.id, record.fence, actual, t.owed, t.ratio, state, ready_at or 0)
end

-- Puts a task back where it was in its tenant's queue.
local function requeue(t, record)
  record.state = 'pending'
  change_header(record)
  enqueue(t, record.score, record.cost, record.id)
end

-- The task waits outside the queue until ready_at.
local function set_aside(t, record, ready_at)
  record.state, record.ready_at = 'pending', ready_at
  change_header(record)
  t.waiting = t.waiting + 1
  zadd(timers_key, ready_at, 'ready:' .. record.name)
  ring('dispatcher')
end
