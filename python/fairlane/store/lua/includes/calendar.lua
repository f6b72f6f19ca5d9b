--- @include parking
-- The calendar: the runnable tenants by virtual time. See docs/fairness.md.
-- Puts a tenant where it belongs after a change.
local function touch(t)
  if not has_head(t) then
    t.owed = 0
    unpark(t)
    leave_calendar(t, '')
  elseif t.place == '' then
    join(t)
    if deficit_of(t) ~= 0 then
      event('entered', t.id, deficit_of(t))
    end
    enter_calendar(t)
  elseif t.place == 'calendar' then
    enter_calendar(t)
  else
    local reason = not is_hopeless(t) and blocking(t)
    if not reason then
      join(t)
      unpark(t)
      enter_calendar(t)
    elseif reason ~= t.place and (CURED_BY_TIME[reason] or CURED_BY_TIME[t.place]) then
      t.place = reason
      wake_later(t, reason)
    end
  end
end
