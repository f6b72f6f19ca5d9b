--- @include tenant
-- What arrived before its tenant was registered belongs to a former tenant of the same id: the present one sees nothing of it.
-- `arrival`: the score of a task, or its arrival.
local function is_former(arrival, t)
  return arrival % PRIORITY_STEP <= t.registered
end
