--- @include attempt
-- A completed attempt: the tenant's ratio learns, and its deficit is corrected from the charge to the actual cost, up to
-- a cap; the rest is forfeited, so that over-estimates do not pile up credit. An actual counts up to the largest cost of
-- a task, so that rounds stay exact.
local function learn(t, record, actual)
  local observed = math.min(2 ^ 20, math.floor(1000 * actual / record.cost))
  local ratio = t.ratio + math.floor((observed - t.ratio) / 8)
  t.ratio = math.max(1, math.min(1000, ratio))
end

local function correct(t, difference)
  if pool.policy ~= 'wdrr' then
    return 0
  end
  local head = difference > 0 and head_of(t)
  if difference <= 0 then
    add_deficit(t, difference)
    return 0
  elseif not head then
    t.deficit = math.min(0, t.deficit + difference)
    return 0
  end
  local cap = t.weight * pool.quantum + 4 * charge_of(t, head.cost)
  local wanted = t.deficit + difference
  t.deficit = math.max(t.deficit, math.min(wanted, cap))
  return wanted - t.deficit
end

local function end_completed(t, record, actual, result, note)
  change_tenant(t)
  credit(t)
  free_hold(t, record)
  capture(t, record, actual)
  learn(t, record, actual)
  local forfeited = correct(t, record.charge - math.min(actual, pool.max_cost))
  ended(record, 'completed', t, actual, forfeited, 'completed')
  touch(t)
  finish(record, 'completed', actual, result, note)
  pool.successes = pool.successes + 1
end
