-- Admits tasks, each by its own id: asking again with the same task finds the first one.
--
-- Guarantee: a refusal writes nothing; a repeated submission creates nothing. A cost that was sized from a smaller
--   estimate is lowered to what the limits can admit, but not below that estimate.
-- KEYS[1]  the pool
-- ARGV     now_ms, {client, {tenant, id, cost, priority, payload, fingerprint, deadline_ms, unknown, keep, estimate}...}
-- Reply    {{status, state, limit}...} in the order asked
-- Events   pending
--- @include commit
--- @include task
local asked = request()
local client = asked[1]
local fresh = {}
local changed = false

local function tombstones()
  local keys, of = {}, {}
  for i = 2, #asked do
    if asked[i][9] == 1 then
      keys[#keys + 1] = tombstone_key(asked[i][1], asked[i][2])
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

-- Whoever asked last is told of the end.
local function adopt(item, before)
  local record = next(TASK_MOVES[before[2]]) and not before.fresh and load_record(item[1], item[2])
  if record and record.client ~= client then
    record.client = client
    later('HSET', record.key, 'facts', pack_facts(record))
    changed = true
  end
end

local function admit(t, item, key)
  local id, cost, deadline = item[2], item[3], item[7]
  local score = item[4] * PRIORITY_STEP + next_sequence()
  if pool.policy == 'fifo' then
    score = pool.sequence
  end
  change_tenant(t)
  credit(t)
  enqueue(t, { member = cost .. ':' .. id, score = score, cost = cost, id = id })
  pool.live = pool.live + 1
  event('pending', item[1], id, cost, item[4])
  touch(t)
  local due = deadline > 0 and now + deadline or 0
  later('HSET', key, 'state', 'pending', 'facts',
    cmsgpack.pack(cost, score, item[4], client, now, due, item[8], item[9]), 'fingerprint', item[6], 'payload', item[5])
  if due > 0 then
    zadd(timers_key, due, 'deadline:' .. item[1] .. ':' .. id)
    ring('dispatcher')
  end
  fresh[key] = { item[6], 'pending', fresh = true }
  stirred = true
  changed = true
end

local function answer(i)
  local item = asked[i]
  local t = load_tenant(item[1])
  if not t then
    return { 'unknown_tenant', '', 0 }
  end
  local key = task_key(item[1], item[2])
  local before = known(i, key)
  if before then
    if before[1] ~= item[6] then
      return { 'conflict', before[2], 0 }
    end
    adopt(item, before)
    return { 'existing', before[2], 0 }
  end
  if pool.closed == 1 then
    return { 'closed', '', 0 }
  end
  local largest, estimate = largest_cost(t), item[10]
  item[3] = estimate > 0 and estimate <= largest and math.min(item[3], largest) or item[3]
  if item[3] > largest then
    return { 'cost_above_ceiling', '', largest }
  end
  if t.queued + t.waiting >= t.queue_limit then
    return { 'queue_full', '', t.queue_limit }
  end
  admit(t, item, key)
  return { 'accepted', 'pending', 0 }
end

local reply = {}
for i = 2, #asked do
  reply[i - 1] = answer(i)
end
if changed then
  commit_growing()
end
return cmsgpack.pack(reply)
