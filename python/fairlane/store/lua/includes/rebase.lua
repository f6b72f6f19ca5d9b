--- @include calendar
-- Takes the pool's virtual time off every virtual time before doubles become too coarse for it. Tenants outside the
-- calendar follow when they are loaded.
local function rebase_pool()
  local by = pool.virtual_time
  if by * pool.heaviest <= MAX_VIRTUAL_SERVICE then
    return
  end
  for _, entry in ipairs(redis.call('ZRANGE', calendar_key, 0, -1)) do
    change_tenant(load_tenant(id_of_entry(entry)))
  end
  pool.virtual_time = 0
  pool.rebased = pool.rebased + by
  for _, t in ipairs(touched) do
    if t.place == 'calendar' then
      restart_at(t, virtual_time(t) - by)
      t.rebased = pool.rebased
      t.rank = virtual_time(t)
    end
  end
end
