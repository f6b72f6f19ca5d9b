--- @include pool
-- One call's unit of work: every decision is taken on local copies, and commit() writes them once.
local pool = load_pool()
local now = read_clock(pool)
local was_live = pool.live > 0
local request = cmsgpack.unpack(ARGV[2])
local tenants = {}      -- id -> copy
local touched = {}      -- copies to write back, in order
local workers = {}      -- incarnation -> copy
local additions = {}    -- zset key -> {score, member...}
local removals = {}     -- zset key -> {member...}
local commands = {}     -- whole commands, run after the sorted sets
local bells = {}
local stirred = false   -- a task may be able to start

local function zadd(key, score, member)
  local list = additions[key]
  if not list then
    list = {}
    additions[key] = list
  end
  local size = #list
  list[size + 1] = score
  list[size + 2] = member
end

local function zrem(key, member)
  local list = removals[key]
  if not list then
    list = {}
    removals[key] = list
  end
  list[#list + 1] = member
end

local function later(...)
  commands[#commands + 1] = { ... }
end

local function call_with_list(command, key, list)
  for first = 1, #list, 1000 do
    redis.call(command, key, unpack(list, first, math.min(first + 999, #list)))
  end
end

local function ring(sleeper)
  bells[sleeper] = true
end

local function next_sequence()
  pool.sequence = pool.sequence + 1
  return pool.sequence
end
