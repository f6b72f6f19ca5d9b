--- @include worker
-- A task in its last life, which is dead if it loses its worker once more, runs alone on its worker: if it is what kills
-- workers, it takes no other task along. `alone` is the fence of the last such attempt that its worker began.
local function runs_alone(w, incarnation)
  return w.alone > 0 and redis.call('ZCOUNT', owned_key(incarnation), w.alone, w.alone) > 0
end

local function is_last_life(task)
  return task.recoveries > 0 and task.recoveries >= pool.max_recoveries
end

-- Whether the worker has begun anything that has not ended: what it has not begun is above.
local function has_begun(incarnation, fence)
  return redis.call('ZCOUNT', owned_key(incarnation), '-inf', string.format('(%.0f', fence)) > 0
end
