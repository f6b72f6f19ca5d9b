--- @include queue_page
-- A tenant's pending tasks: the stored zset seen through this call's own additions and removals.
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
