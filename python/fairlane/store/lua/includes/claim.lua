--- @include attempt
--- @include caller
-- Whether this worker may still end an attempt.
local TAKES_ACTIVE = { active = true }
local TAKES_HANDED = { active = true, enqueued = true }

-- Returns the record, or nil and the answer.
local function claim(item, states)
  if not w then
    return nil, 'stale'
  end
  local record = load_record(item.tenant, item.id)
  if not record or record.fence ~= item.fence then
    return nil, 'stale'
  end
  if states[record.state] and record.worker == incarnation then
    return record
  end
  local over = record.state == 'pending' or record.ended > 0
  return nil, over and record.worker == incarnation and 'repeated' or 'stale'
end

-- Ends a batch of attempts. Returns the answer to each, and whether anything changed.
local function end_attempts(claim_item, act)
  local reply = {}
  local changed = false
  load_tenants(request.items)
  load_records(request.items)
  for i, item in ipairs(request.items) do
    local record, refusal, noted = claim_item(item)
    if record then
      act(load_tenant(record.tenant), record, item)
      changed = true
    end
    changed = changed or noted
    reply[i] = refusal or 'done'
  end
  return reply, changed
end

local function answer_writes(claim_item, act)
  local reply, changed = end_attempts(claim_item, act)
  if changed then
    commit_draining()
  end
  return cmsgpack.pack(reply)
end
