-- Creates the pool, or changes its settings.
--
-- Guarantee: policy and quantum never change under tasks that were placed by the old ones; a refusal writes nothing.
-- KEYS[1]  the pool
-- ARGV     now_ms, {field, value, ...} all settings
-- Reply    the field that refuses, or '' when done
-- Events   none
local settings = cmsgpack.unpack(ARGV[2])
local wanted = {}
for i = 1, #settings, 2 do
  wanted[settings[i]] = settings[i + 1]
end
local old = redis.call('HMGET', pool_key, 'schema', 'policy', 'quantum', 'hard_limit', 'capacity', 'live')
if old[1] then
  if tonumber(old[1]) ~= wanted.schema then
    return cmsgpack.pack('schema')
  end
  local busy = tonumber(old[6] or 0) > 0
  if busy and old[2] ~= wanted.policy then
    return cmsgpack.pack('policy')
  elseif busy and tonumber(old[3]) ~= wanted.quantum then
    return cmsgpack.pack('quantum')
  end
end
local capacity = tonumber(old[5] or wanted.hard_limit)
if capacity > wanted.hard_limit or capacity == tonumber(old[4] or 0) then
  capacity = wanted.hard_limit
end
redis.call('HSET', pool_key, 'capacity', capacity, unpack(settings))
return cmsgpack.pack('')
