-- Ends attempts that the provider did not take: nothing is charged, no failure is counted, the task keeps its place.
--
-- Guarantee: as settle. The pool, or only the task, waits for the pause the provider named.
-- KEYS[1]  the pool
-- ARGV     now_ms, {incarnation, {tenant, id, fence, retry_after_ms (-1: none named)}...}
-- Reply    {write...} in the order asked
-- Events   throttled, cancelled, paused
--- @include commit
--- @include claim
local asked = request()
local incarnation = asked[1]

local function pause_pool(pause)
  local until_ms = now + pause
  if until_ms > pool.paused_until then
    pool.paused_until = until_ms
    pool.ramp_from = until_ms
    pool.ramp_until = until_ms + math.min(pause, pool.resume_ramp)
    event('paused', until_ms)
    ring('dispatcher')
  end
end

-- Tasks that wait for the same moment each by itself come back evenly over the ramp: the multiples of the golden
-- ratio, here by 65536, lie between each other, however many there are.
local function spread(pause)
  local place = (pool.throttles % 65536) * 40503 % 65536
  return math.floor(math.min(pause, pool.resume_ramp) * place / 65536)
end

local function throttle(t, record, item)
  local pause = item[4] >= 0 and item[4] or pool.default_pause
  pool.throttles = pool.throttles + 1
  if record.cancel == 1 then
    end_unstarted(t, record, 'cancelled', 'cancelled', 'cancelled')
    return
  end
  local ready_at = 0
  if pause > 0 and pool.throttle_scope == 'pool' then
    pause_pool(pause)
  elseif pause > 0 then
    ready_at = now + pause + spread(pause)
  end
  record.throttles = record.throttles + 1
  give_back(t, record, 'throttled', ready_at, 'counts', pack_counts(record))
end

return answer_writes(asked, function(item)
  return claim(incarnation, item, TAKES_ACTIVE)
end, throttle)
