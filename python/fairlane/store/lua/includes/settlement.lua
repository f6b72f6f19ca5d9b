--- @include attempt
-- A completed attempt: the tenant's ratio learns, and its service is corrected from the charge to the actual cost. An actual
-- counts up to the largest cost of a task.
local function learn(t, record, actual)
  local observed = math.min(2 ^ 20, math.floor(1000 * actual / record.cost))
  local ratio = t.ratio + math.floor((observed - t.ratio) / 8)
  t.ratio = math.max(1, math.min(1000, ratio))
end

local function end_completed(t, record, actual, result, note)
  change_tenant(t)
  free_hold(t, record)
  capture(t, record, actual)
  learn(t, record, actual)
  correct(t, record.charge, math.min(actual, MAX_COST))
  ended(record, 'completed', t, actual, 'completed')
  touch(t)
  finish(record, 'completed', actual, result, note)
  pool.successes = pool.successes + 1
end
