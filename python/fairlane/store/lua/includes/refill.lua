--- @include serving
--- @include taking
-- A busy worker takes as many of the next tasks as it has ended, so that it waits for nobody. It never takes more, and none
-- above its share: whose load grows is the dispatcher's to say.
-- Returns the record with the attempt, or nil if there is no such task any more.
local function prepare(tenant, id, fence, charge, period, windows)
  local record = load_record(tenant, id)
  if record then
    record.state, record.fence, record.charge, record.period = 'enqueued', fence, charge, period
    record.windows, record.cancel, record.started, record.worker = windows, 0, 0, incarnation
  end
  return record
end

-- Begins a placed task, or leaves it to be taken when it may begin.
local function begin_placed(task)
  local record = prepare(unpack(task))
  if record and begin(record) then
    if record.state == 'active' then
      show(record)
    end
    return
  end
  if record then
    record.state = 'pending'
  end
  hand_over(unpack(task))
end

local function refill(writes)
  local count = 0
  for _, write in ipairs(writes) do
    count = write == 'done' and count + 1 or count
  end
  count = math.min(count, request.limit - #tasks, w.share > 0 and w.share - w.load or count)
  if count <= 0 or w.state ~= 'live' then
    return
  end
  offer(incarnation, w, count)
  serve_tenants(count)
  taken = taken - #placed
  load_records(placed)
  for _, task in ipairs(placed) do
    begin_placed(task)
  end
  if visits > 0 then
    ring('dispatcher') -- it waits for what reopens a tenant, too
  end
end
