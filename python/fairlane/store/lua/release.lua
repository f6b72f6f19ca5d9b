-- Hands attempts back: the task returns to its place, nothing is charged, no attempt is counted.
--
-- Guarantee: as settle.
-- KEYS[1]  the pool
-- ARGV     now_ms, {incarnation, {tenant, id, fence}...}
-- Reply    {write...} in the order asked
-- Events   returned, cancelled
--- @include commit
--- @include claim
local asked = request()
local incarnation = asked[1]

return answer_writes(asked, function(item)
  return claim(incarnation, item, TAKES_HANDED)
end, function(t, record)
  if record.cancel == 1 then
    end_unstarted(t, record, 'cancelled', 'cancelled', 'cancelled')
  else
    give_back(t, record, 'returned', 0)
  end
end)
