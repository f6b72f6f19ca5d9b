--- @include calendar
-- Corrects a tenant's service from a charge to the actual cost, 0 if the attempt did not run. A refund raises the deficit of a
-- tenant in the calendar at once up to the quantum plus four times the actual cost; the rest is owed, and pays later
-- charges. Elsewhere a refund only reduces a debt: a tenant without work, or at a limit of its own, could not have been
-- served sooner.
local function correct(t, charge, actual)
  if pool.policy ~= 'wdrr' then
    return
  end
  local delta = charge - actual
  if delta <= 0 then
    t.served = math.min(t.served - delta, MAX_SERVED)
  elseif t.place == 'calendar' then
    local room = pool.quantum + 4 * actual - deficit_of(t)
    local at_once = math.min(delta, math.max(0, math.floor(room)))
    t.served = t.served - at_once
    t.owed = t.owed + delta - at_once
  elseif virtual_time(t) > pool.virtual_time then
    t.served = t.served - delta
    if virtual_time(t) < pool.virtual_time then
      restart_at(t, pool.virtual_time)
    end
  end
end
