--- @include agenda
--- @include finish
--- @include places
--- @include rebase
--- @include rounds
-- Serves the tenants at the front of the calendar, until there is no place, no task, or a limit of the pool stops it.
local visits = 0 -- those that served nothing

local function stop_reason(limit)
  if #placed >= limit then
    return 'batch'
  end
  return pool_stop() or (not next_place() and 'workers') or nil
end

local function reject(t, code)
  local record = load_record(t.id, t.head_id)
  event('end', 'rejected', t.id, t.head_id, 0, 0, 0, t.ratio, 'rejected', 0)
  unqueue(t, t.head_cost, t.head_id)
  finish(record, 'rejected', 0, '', code)
end

-- Serves, rejects or parks a tenant's next task. Returns why the whole call must stop, or nil.
local function visit(t)
  change_tenant(t)
  t.rank = false
  local blocked = blocking(t)
  local stop = nil
  if is_hopeless(t) then
    reject(t, 'cost_above_ceiling')
    visits = visits + 1
  elseif blocked then
    park(t, blocked)
    visits = visits + 1
    return nil
  elseif t.budget_rejects == 1 and over_budget(t, t.head_cost) then
    reject(t, 'budget_exhausted')
    visits = visits + 1
  else
    stop = pool_stop(t.head_cost)
    if not stop then
      place(t, charge_of(t, t.head_cost))
    end
  end
  touch(t)
  if t.rank then
    reinsert(t)
  end
  return stop
end

-- Places at most `limit` tasks. Returns why it stopped.
local function serve_tenants(limit)
  open_agenda(limit)
  local stop
  repeat
    stop = stop_reason(limit)
    if not stop then
      local t = next_tenant()
      stop = not t and 'empty' or t and visit(t) or visits == VISIT_LIMIT and 'visits'
    end
  until stop
  note_round()
  rebase_pool()
  return stop
end
