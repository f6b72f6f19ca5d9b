-- Begins a worker's life: a new incarnation under a name, with a lease. An older incarnation of the name is lost.
--
-- Guarantee: repeating changes nothing but the lease.
-- KEYS[1]  the pool
-- ARGV     now_ms, {name, incarnation, slots}
-- Reply    lease_ms; 0 when this incarnation is lost
-- Events   worker, and for an older incarnation's tasks: lost, cancelled, expired
--- @include commit
--- @include recovery
local name, incarnation = request.name, request.incarnation
local known = load_worker(incarnation)
if known and known.state == 'lost' then
  return cmsgpack.pack(0)
end
local older = redis.call('HGET', names_key, name)
if older and older ~= incarnation then
  recover(older, RECOVERY_LIMIT)
end
if not known then
  workers[incarnation] = {
    slots = request.slots, load = 0, alone = 0, last = 0, share = 0, state = 'live', name = name, dirty = true,
  }
  pool.fleet = pool.fleet + 1
  event('worker', incarnation, name, 'live')
end
later('HSET', names_key, name, incarnation)
zadd(workers_key, now + pool.lease, incarnation)
stirred = true
commit_draining()
return cmsgpack.pack(pool.lease)
