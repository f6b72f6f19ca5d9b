--- @include parking
-- The calendar: the round in which each tenant's next task becomes affordable. See docs/fairness.md.
-- The only writer of a calendar entry. Call credit() first, then make the change, then this.
local function touch(t)
  local head = head_of(t)
  if not head then
    t.deficit = math.min(t.deficit, 0)
    unpark(t)
    leave_calendar(t, '')
  elseif t.place == '' then
    settle_debt(t)
    if t.deficit ~= 0 then
      event('entered', t.id, t.deficit)
    end
    enter_calendar(t)
  elseif t.place == 'calendar' then
    enter_calendar(t)
  else
    local reason = not is_hopeless(t, head) and blocking(t, head)
    if not reason then
      unpark(t)
      enter_calendar(t)
    elseif reason ~= t.place and (CURED_BY_TIME[reason] or CURED_BY_TIME[t.place]) then
      t.place = reason
      wake_later(t, reason)
    end
  end
end
