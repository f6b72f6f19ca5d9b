--- @include context
-- The stored part of a tenant's queue, read page by page. Members are `cost:id`. Pages grow, since most calls need
-- only the head.
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
