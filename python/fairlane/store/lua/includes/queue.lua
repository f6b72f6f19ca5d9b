--- @include queue_page
-- A tenant's pending tasks in order: the head is part of the tenant's record, the rest a zset, seen through this call's own
-- additions and removals. Members are the cost, 8 bytes, and the id.
local function member_of(cost, id)
  return struct.pack('<d', cost) .. id
end

-- Whether a task waits; it is then in `head_score`, `head_cost` and `head_id`.
local function has_head(t)
  if t.head_id ~= '' then
    return true
  elseif t.queued == 0 then
    return false
  end
  local member, score = stored_head(t)
  local added = t.added and t.added[1]
  if added and (not member or added.score < score) then
    table.remove(t.added, 1)
    t.head_score, t.head_cost, t.head_id = added.score, added.cost, added.id
  else
    take_stored(t, member)
    t.head_score, t.head_cost, t.head_id = score, struct.unpack('<d', member), string.sub(member, 9)
  end
  return true
end

local function add(t, score, cost, id)
  local added = t.added
  if not added then
    added = {}
    t.added = added
  end
  local at = #added + 1
  while at > 1 and added[at - 1].score > score do
    at = at - 1
  end
  table.insert(added, at, { score = score, cost = cost, id = id })
end

local function enqueue(t, score, cost, id)
  t.queued = t.queued + 1
  if t.queued == 1 or t.head_id ~= '' and score < t.head_score then
    if t.queued > 1 then
      add(t, t.head_score, t.head_cost, t.head_id)
    end
    t.head_score, t.head_cost, t.head_id = score, cost, id
  else
    add(t, score, cost, id)
  end
end

local function unqueue(t, cost, id)
  t.queued = t.queued - 1
  if t.head_id == id then
    t.head_id = ''
    return
  end
  for i, task in ipairs(t.added or {}) do
    if task.id == id then
      table.remove(t.added, i)
      return
    end
  end
  local member = member_of(cost, id)
  zrem(queue_key(t), member)
  t.gone = t.gone or {}
  t.gone[member] = true
end
