--- @include attempt
-- Changes that the clock makes to tasks: deadlines, and waits that end.
local function drop_pending(t, record, attempt, state, code)
  change_tenant(t)
  if record.ready_at > 0 then
    t.waiting = t.waiting - 1
    zrem(timers_key, 'ready:' .. record.name)
  else
    unqueue(t, record.cost, record.id)
  end
  event('end', attempt, record.tenant, record.id, 0, 0, 0, t.ratio, state, 0)
  touch(t)
  finish(record, state, 0, '', code)
end

local function expire(t, record)
  if record.state == 'pending' then
    drop_pending(t, record, 'expired', 'expired', 'deadline')
  elseif record.state == 'enqueued' then
    end_unstarted(t, record, 'expired', 'expired', 'deadline')
  else
    -- An active task's worker watches its deadline; if the worker is lost, recovery does.
    zrem(timers_key, 'deadline:' .. record.name)
  end
end

local function make_ready(t, record)
  if record.state ~= 'pending' or record.ready_at == 0 then
    return
  end
  change_tenant(t)
  t.waiting = t.waiting - 1
  record.ready_at = 0
  change_header(record)
  zrem(timers_key, 'ready:' .. record.name)
  enqueue(t, record.score, record.cost, record.id)
  event('ready', record.tenant, record.id)
  touch(t)
end
