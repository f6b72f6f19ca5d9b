-- Admits tasks, each under its own id: a second submit of the same task finds the first.
--
-- Guarantee: a refusal writes nothing; a repeated submission creates nothing. A cost that was sized from a smaller
--   estimate is lowered to the largest cost that the limits admit, but not below that estimate.
-- KEYS[1]  the pool
-- ARGV     now_ms, {client, {{tenant, id, cost, payload, fingerprint, priority, deadline_ms, on_unknown,
--          named_by_caller, estimate}...}}
-- Reply    {{status, state, limit}...} in the order asked
-- Events   pending
--- @include commit
--- @include task
local client = request.client
local fresh = {}
local changed = false

local function tombstones()
  local keys, of = {}, {}
  for i, item in ipairs(request.items) do
    if item.named_by_caller then
      keys[#keys + 1] = tombstone_key(item.tenant, item.id)
      of[i] = #keys
    end
  end
  if #keys == 0 then
    return of
  end
  local found = redis.call('MGET', unpack(keys))
  for i, at in pairs(of) do
    of[i] = found[at] or nil
  end
  return of
end

local remembered = tombstones()

local function known(i, key)
  local raw = fresh[key] or redis.call('HMGET', key, 'fingerprint', 'state')
  if raw[1] then
    return raw
  end
  local stone = remembered[i]
  if stone then
    return { string.sub(stone, 1, 32), string.sub(stone, 33) }
  end
  return nil
end

-- The client that submitted last is notified of the end.
local function adopt(item, before)
  local record = next(TASK_MOVES[before[2]]) and not before.fresh and load_record(item.tenant, item.id)
  if record and record.client ~= client then
    record.client = client
    later('HSET', record.key, 'facts', pack_facts(record))
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
  later('HSET', key, 'state', 'pending', 'facts',
    cmsgpack.pack(cost, score, priority, client, now, due, item.on_unknown, item.named_by_caller and 1 or 0),
    'fingerprint', item.fingerprint, 'payload', item.payload)
  if due > 0 then
    zadd(timers_key, due, 'deadline:' .. item.tenant .. ':' .. id)
    ring('dispatcher')
  end
  fresh[key] = { item.fingerprint, 'pending', fresh = true }
  stirred = true
  changed = true
end

local function answer(i, item)
  local t = load_tenant(item.tenant)
  if not t then
    return { 'unknown_tenant', '', 0 }
  end
  local key = task_key(item.tenant, item.id)
  local before = known(i, key)
  if before then
    if before[1] ~= item.fingerprint then
      return { 'conflict', before[2], 0 }
    end
    adopt(item, before)
    return { 'existing', before[2], 0 }
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
  admit(t, item, key)
  return { 'accepted', 'pending', 0 }
end

load_tenants(request.items)
local reply = {}
for i, item in ipairs(request.items) do
  reply[i] = answer(i, item)
end
if changed then
  commit_growing()
end
return cmsgpack.pack(reply)
