--- @include attempt
--- @include window_place
--- @include ramp
--- @include alone
--- @include caller
-- Which of the tasks that a worker was handed may begin.
local begun = false
local hold = false -- why nothing more may begin: for how long
local handed = handed_key(incarnation)
local taken = 0 -- tasks that were handed over and no longer are, less those that this call has placed

-- How long a worker waits when no bell will ring for it.
local a_while = math.max(1, math.floor(pool.lease / 20))

local function must_wait()
  return hold or is_ramping() and pool.active >= open_slots()
end

-- Until the ramp opens the next slot; in steps, so that many workers do not ask for each slot, and so that they find
-- slots freed by attempts that ended.
local function next_step()
  local shortest = math.ceil((pool.ramp_until - pool.ramp_from) / 64)
  local wait = math.max(opens_beyond(pool.active) - now, shortest)
  return math.min(wait, 4 * shortest, pool.ramp_until - now)
end

-- Activates a task that was handed over. Returns false if it must wait.
local function begin(record)
  if must_wait() then
    return false
  end
  begun = true
  if record.deadline > 0 and record.deadline <= now then
    taken = taken + 1
    end_unstarted(load_tenant(record.tenant), record, 'expired', 'expired', 'deadline')
    return true
  end
  if is_last_life(record) then
    hold = a_while
    if w.load - redis.call('ZCARD', handed) + taken > 0 then
      return false
    end
    w.alone, w.dirty = record.fence, true
  end
  taken = taken + 1
  pool.active = pool.active + 1
  if record.flying then
    zrem(handed, record.name)
  end
  record.state, record.started = 'active', now
  w.last, w.dirty = record.fence, true
  change_record(record)
  local own, shared = record.windows % POOL_BITS, math.floor(record.windows / POOL_BITS)
  if own > 0 then
    stamp_place(record.tenant, own, record.cost)
  end
  if shared > 0 then
    stamp_place(POOL_OWNER, shared, record.cost)
  end
  event('active', record.tenant, record.id, record.fence)
  return true
end
