-- Cancels tasks: at once while they wait, a running task through its worker.
--
-- Guarantee: a cancelled task never starts afterwards; one that runs ends cancelled unless it completes first.
-- KEYS[1]  the pool
-- ARGV     now_ms, {{{tenant, id}...}}
-- Reply    {status...} in the order asked
-- Events   cancelled
--- @include commit
--- @include expiry
--- @include former
local changed = false

local function cancel(tenant, id)
  local t = load_tenant(tenant)
  local record = t and load_record(tenant, id)
  if not record then
    local stone = t and redis.call('GET', tombstone_key(tenant, id))
    return stone and not is_former(struct.unpack('<d', stone), t) and 'ended' or 'unknown'
  elseif is_former(record.score, t) then
    return 'unknown'
  end
  if record.state == 'pending' then
    drop_pending(t, record, 'cancelled', 'cancelled', 'cancelled')
  elseif record.state == 'enqueued' then
    end_unstarted(t, record, 'cancelled', 'cancelled', 'cancelled')
  elseif record.state == 'active' then
    if record.cancel == 0 then
      record.cancel = 1
      change_record(record)
      zadd(cancelling_key(record.worker), record.fence, record.name)
      ring('worker:' .. record.worker)
      changed = true
    end
    return 'stopping'
  else
    return 'ended'
  end
  stirred = true
  changed = true
  return 'cancelled'
end

local reply = {}
load_tenants(request.items)
load_records(request.items)
for i, item in ipairs(request.items) do
  reply[i] = cancel(item.tenant, item.id)
end
if changed then
  commit_draining()
end
return cmsgpack.pack(reply)
