-- A task in its last life (it is dead if it loses one more worker) runs alone on its worker, so that a task that kills its
-- workers takes no other task along. A worker's `alone`: the fence of the attempt that runs alone on it, or 0.
local function is_last_life(record)
  return record.recoveries > 0 and record.recoveries >= pool.max_recoveries
end
