--- @include context
-- The stored part of a tenant's queue, read page by page. Pages grow, since most calls need only its first task.
local function queue_key(t)
  if not t.queue then
    t.queue = pending_key(t.id)
  end
  return t.queue
end

local function next_page(t)
  t.page_from = t.page_from + t.page_size
  t.page_size = t.page and math.min(8 * t.page_size, 64) or 1
  t.page_at = 1
  t.page = redis.call('ZRANGE', queue_key(t), t.page_from, t.page_from + t.page_size - 1, 'WITHSCORES')
end

-- The first task of the stored part, and its score; nil if there is none.
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

-- Takes what stored_head has found.
local function take_stored(t, member)
  zrem(queue_key(t), member)
  t.page_at = t.page_at + 2
end
