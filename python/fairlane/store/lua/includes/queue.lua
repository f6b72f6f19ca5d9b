--- @include context
-- A tenant's pending tasks: the stored zset seen through this call's own additions and removals.
-- Members are `cost:id`. Pages grow, since most calls need only the head.
local function next_page(t)
  t.page_from = t.page_from + t.page_size
  t.page_size = t.page and math.min(4 * t.page_size, 64) or 2
  t.page_at = 1
  t.page = redis.call('ZRANGE', pending_key(t.id), t.page_from, t.page_from + t.page_size - 1, 'WITHSCORES')
end

local function stored_head(t)
  if t.stored == 0 then
    return nil
  end
  if not t.page then
    next_page(t)
  end
  while true do
    local member = t.page[t.page_at]
    if member then
      if not (t.gone and t.gone[member]) then
        return member, tonumber(t.page[t.page_at + 1])
      end
      t.page_at = t.page_at + 2
    elseif #t.page < 2 * t.page_size then
      t.stored = 0
      return nil
    else
      next_page(t)
    end
  end
end

local function parse_member(member)
  local colon = string.find(member, ':', 1, true)
  return tonumber(string.sub(member, 1, colon - 1)), string.sub(member, colon + 1)
end

-- The task to serve next: {member, score, cost, id}, or nil.
local function head_of(t)
  if t.queued == 0 then
    return nil
  end
  if t.head then
    return t.head
  end
  local member, score = stored_head(t)
  local added = t.added and t.added[1]
  if added and (not member or added.score < score) then
    t.head = added
  else
    local cost, id = parse_member(member)
    t.head = { member = member, score = score, cost = cost, id = id }
  end
  return t.head
end

local function enqueue(t, task)
  local added = t.added
  if not added then
    added = {}
    t.added = added
  end
  local at = #added + 1
  while at > 1 and added[at - 1].score > task.score do
    at = at - 1
  end
  table.insert(added, at, task)
  t.queued = t.queued + 1
  if t.head and task.score < t.head.score then
    t.head = false
  end
end

local function unqueue(t, member)
  t.queued = t.queued - 1
  if t.head and t.head.member == member then
    t.head = false
  end
  for i, task in ipairs(t.added or {}) do
    if task.member == member then
      table.remove(t.added, i)
      return
    end
  end
  zrem(pending_key(t.id), member)
  if t.page and t.page[t.page_at] == member then
    t.page_at = t.page_at + 2
  else
    t.gone = t.gone or {}
    t.gone[member] = true
  end
end

local function flush_queues()
  for _, t in ipairs(touched) do
    if t.added then
      local key = pending_key(t.id)
      for _, task in ipairs(t.added) do
        zadd(key, task.score, task.member)
      end
    end
  end
end
