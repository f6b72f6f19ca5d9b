--- @include offers
--- @include serving
-- The dispatcher's plan: the workers of the next places, in order. While nothing waits, a submit places by it, so that a task
-- meets an idle worker at once, and the strategy has still chosen which. It is read when it is needed.
local plan

local function planned()
  plan = plan or redis.call('HGET', pool_key, 'plan') or ''
  return plan == '' and 0 or string.byte(plan)
end

local function keep_plan(count, entries)
  local kept = struct.pack('B', count) .. entries
  if kept ~= plan then
    later('HSET', pool_key, 'plan', kept)
  end
end

-- Keeps at most `most` of the places that are left as the plan, if nothing waits for one. Returns how many; false if it leaves
-- the former plan, because other than `unused` places of it are left: the caller did not know whose turns had been taken.
local function plan_rest(most, unused)
  if planned() > 0 and unused > 0 and planned() ~= unused then
    return false
  end
  local count, entries = 0, {}
  for _, each in ipairs(pool.runnable == 0 and places or {}) do
    for _ = 1, math.min(each.left, each.worker.slots - each.worker.load, most - count) do
      count = count + 1
      entries[count] = struct.pack('Bc0', #each.incarnation, each.incarnation)
    end
  end
  if count > 0 or planned() > 0 then
    keep_plan(count, table.concat(entries))
  end
  return count
end

-- Serves as many tasks by the first places of the plan.
local function serve_planned(count)
  local incarnations, slots, at = {}, {}, 2
  for i = 1, count do
    incarnations[i], at = struct.unpack('Bc0', plan, at)
    slots[i] = 1
  end
  keep_plan(planned() - count, string.sub(plan, at))
  offer_places(incarnations, slots)
  serve_tenants(count)
  hand_over_all()
  if visits > 0 or planned() < 3 * count then
    ring('dispatcher') -- it waits for what reopens a tenant, and makes the next plan while this one still serves
  end
end
