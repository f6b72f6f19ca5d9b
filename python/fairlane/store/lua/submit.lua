-- Admits tasks, each under its own id: a second submit of the same task finds the first.
--
-- Guarantee: a refusal writes nothing; a repeated submission creates nothing. A cost that was sized from a smaller
--   estimate is lowered to the largest cost that the limits admit, but not below that estimate. If nothing waited, the
--   tasks are placed with workers as dispatch does.
-- KEYS[1]  the pool
-- ARGV     now_ms, {client, {{tenant, id, cost, payload, fingerprint, priority, deadline_ms, on_unknown,
--          named_by_caller, estimate}...}}
-- Reply    {{status, state, limit}...} in the order asked
-- Events   pending, and as dispatch: enqueued, parked, round
--- @include commit
--- @include known
--- @include plan
local client = request.client
local changed = false
local nothing_waits = pool.runnable == 0

-- The client that submitted last is notified of the end.
local function adopt_task(record)
  if record.ended == 0 and record.client ~= client then
    record.client = client
    change_header(record)
    changed = true
  end
end

local function admit(t, item, key)
  local id, cost, priority, deadline = item.id, item.cost, item.priority, item.deadline_ms
  local score = priority * PRIORITY_STEP + next_sequence()
  if pool.policy == 'fifo' then
    score = pool.sequence
  end
  change_tenant(t)
  enqueue(t, score, cost, id)
  pool.live = pool.live + 1
  event('pending', item.tenant, id, cost, priority)
  touch(t)
  local due = deadline > 0 and now + deadline or 0
  admitted[#admitted + 1] = key
  admitted[#admitted + 1] = pack_new_task(cost, score, priority, now, due, item.named_by_caller and 1 or 0,
    item.on_unknown == 'fail' and 1 or 0, pool.fence, client, item.fingerprint) .. item.payload
  if due > 0 then
    zadd(timers_key, due, 'deadline:' .. item.tenant .. ':' .. id)
    ring('dispatcher')
  end
  fresh[key] = item.fingerprint
  stirred = true
  changed = true
  nothing_waits = nothing_waits and t.budget_rejects == 0 -- only a stored task can be rejected
end

local function answer(i, item)
  local t = load_tenant(item.tenant)
  if not t then
    return { 'unknown_tenant', '', 0 }
  end
  local fingerprint, state, record = known(i, item, t)
  if fingerprint then
    if fingerprint ~= item.fingerprint then
      return { 'conflict', state, 0 }
    end
    if record then
      adopt_task(record)
    end
    return { 'existing', state, 0 }
  end
  if pool.closed == 1 then
    return { 'closed', '', 0 }
  end
  local largest, estimate = largest_cost(t), item.estimate
  item.cost = estimate > 0 and estimate <= largest and math.min(item.cost, largest) or item.cost
  if item.cost > largest then
    return { 'cost_above_ceiling', '', largest }
  end
  if t.queued + t.waiting >= t.queue_limit then
    return { 'queue_full', '', t.queue_limit }
  end
  admit(t, item, keys[i])
  return { 'accepted', 'pending', 0 }
end

load_tenants(request.items)
local reply = {}
for i, item in ipairs(request.items) do
  reply[i] = answer(i, item)
end
local count = #admitted / 2
if nothing_waits and count > 0 and count <= planned() then
  serve_planned(count)
end
if changed then
  commit_growing()
end
return cmsgpack.pack(reply)
