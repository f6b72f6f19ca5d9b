--- @include attempt
-- Whether an attempt is still this worker's to end.
local TAKES_ACTIVE = { active = true }
local TAKES_HANDED = { active = true, enqueued = true }

-- Returns the record, or nil and the answer.
local function claim(incarnation, item, states)
  if not live_worker(incarnation) then
    return nil, 'stale'
  end
  local record = load_record(item[1], item[2])
  if not record or record.fence ~= item[3] then
    return nil, 'stale'
  end
  if states[record.state] and record.worker == incarnation then
    return record
  end
  local over = record.state == 'pending' or not next(TASK_MOVES[record.state])
  return nil, over and record.worker == incarnation and 'repeated' or 'stale'
end

-- Answers a batch of writes about attempts: asked[1] is the incarnation, the rest one item each.
local function answer_writes(asked, claim_item, act)
  local reply = {}
  local changed = false
  for i = 2, #asked do
    local record, refusal, noted = claim_item(asked[i])
    if record then
      act(load_tenant(record.tenant), record, asked[i])
      changed = true
    end
    changed = changed or noted
    reply[i - 1] = refusal or 'done'
  end
  if changed then
    commit_draining()
  end
  return cmsgpack.pack(reply)
end
