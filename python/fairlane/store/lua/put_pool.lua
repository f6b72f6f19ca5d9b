-- Creates the pool, or changes its settings.
--
-- Guarantee: policy and quantum never change under tasks that were placed by the old ones; a refusal writes nothing.
--   A capacity that stood at the hard limit follows it.
-- KEYS[1]  the pool
-- ARGV     now_ms, {field, value, ...} all settings
-- Reply    the field that refuses, or '' when done
-- Events   capacity
--- @include commit
local settings = request()
local wanted = {}
for i = 1, #settings, 2 do
  wanted[settings[i]] = settings[i + 1]
end
local exists = pool.schema > 0
if exists and pool.schema ~= wanted.schema then
  return cmsgpack.pack('schema')
elseif pool.live > 0 and pool.policy ~= wanted.policy then
  return cmsgpack.pack('policy')
elseif pool.live > 0 and pool.quantum ~= wanted.quantum then
  return cmsgpack.pack('quantum')
end
local before = pool.capacity
if not exists or before == pool.hard_limit or before > wanted.hard_limit then
  pool.capacity = wanted.hard_limit
end
local starts, spend = pool.starts_interval, pool.spend_interval
for field, value in pairs(wanted) do
  pool[field] = value
end
keep_intervals(pool, starts, spend)
if pool.capacity ~= before then
  event('capacity', before, pool.capacity, 'set')
end
later('HSET', pool_key, 'settings', pack_pool_settings(pool))
stirred = true
commit_growing()
return cmsgpack.pack('')
