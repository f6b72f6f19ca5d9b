--- @include attempt
--- @include caller
--- @include former
-- Usage of an attempt that its worker had already lost: booked once per fence, never as the finished task's cost. The
-- provider was paid, so the usage counts against the budget, unless the tenant was registered again since.
local booked = {}

-- Call after a refused claim: an attempt that is still active has lost its worker, and recovery has not reached it yet. A fence
-- up to the record's floor is that of a former task of the same id.
local function was_taken_away(record, fence)
  if fence ~= record.fence then
    return fence < record.fence and fence > record.floor
  end
  if record.worker ~= incarnation then
    return false
  end
  return record.state == 'active' or record.lost == fence
end

-- Returns whether it booked something.
local function book_late(item)
  local fence, actual = item.fence, item.actual
  local t = load_tenant(item.tenant)
  local record = t and load_record(item.tenant, item.id)
  if not record or actual <= 0 or is_former(record.score, t) or not was_taken_away(record, fence) then
    return false
  end
  local once = record.name .. ' ' .. fence
  if booked[once] or has_usage(record, fence) then
    return false
  end
  booked[once] = true
  change_tenant(t)
  t.late, t.limited, t.moved = t.late + actual, 1, true
  t.spent_total = t.spent_total + actual
  note_usage(record, fence, actual)
  event('late', item.tenant, item.id, fence, actual)
  touch(t)
  return true
end
