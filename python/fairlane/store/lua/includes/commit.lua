--- @include write_state
-- Writes everything this call decided. A full server refuses a command that calls commit_growing(): a function before it
-- begins, a script at its first write, which is HSET. commit_draining() is let through, so that work can always end: as a
-- script because it starts with the removals.
local function close_books()
  flush_queues()
  flush_calendar()
  if pool.live == 0 and was_live then
    pool.virtual_time, pool.rebased = 0, 0
    pool.epoch = pool.epoch + 1
    event('epoch', pool.epoch)
  end
  if #rows > 0 and pool.event_limit > 0 then
    pool.events = pool.events + 1
    entry = table.concat(rows)
    local size, mean = #entry + EVENT_OVERHEAD, pool.event_size
    pool.event_size = mean == 0 and size or mean + (size - mean) / 64
  end
end

local function finish_commit()
  for _, command in ipairs(commands) do
    redis.call(unpack(command))
  end
  write_tasks()
  write_tenants()
  write_workers()
  write_events()
  write_bells()
end

local function commit_growing()
  close_books()
  write_pool()
  if next(removals) then
    write_removals()
  end
  write_additions()
  finish_commit()
end

local function commit_draining()
  close_books()
  write_removals()
  write_pool()
  write_additions()
  finish_commit()
end
