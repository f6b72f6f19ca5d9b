--- @include write_state
-- Writes everything this call decided. A full server refuses a script at its first write if that write may grow
-- memory: commit_growing() starts with HSET, so that such a call is refused whole; commit_draining() starts with
-- the removals, so that work can always end.
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
