--- @include worker
-- A task in its last life (it is dead if it loses one more worker) runs alone on its worker, so that a task that kills its
-- workers takes no other task along. `alone`: the fence of the last such attempt that the worker began.
local function runs_alone(w, incarnation)
  return w.alone > 0 and redis.call('ZCOUNT', owned_key(incarnation), w.alone, w.alone) > 0
end

local function is_last_life(task)
  return task.recoveries > 0 and task.recoveries >= pool.max_recoveries
end

-- Whether the worker has begun an attempt that has not ended: those that it has not begun have higher fences.
local function has_begun(incarnation, fence)
  return redis.call('ZCOUNT', owned_key(incarnation), '-inf', string.format('(%.0f', fence)) > 0
end
