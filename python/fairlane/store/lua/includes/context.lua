--- @include pool
-- One call's unit of work: everything is decided on local copies, then written once by commit().
local pool = load_pool()
local now = read_clock(pool)
local tenants = {}      -- id -> copy
local touched = {}      -- copies to write back, in order
local workers = {}      -- incarnation -> copy
local rows = {}         -- event rows, in the order of the decisions
local writes = {}       -- {command, key, arguments}, in order; one per key and command
local write_index = {}
local commands = {}     -- {command, key, ...}, run after the writes
local bells = {}
local stirred = false   -- something happened that may let a task start

local function request()
  return cmsgpack.unpack(ARGV[2])
end

-- Collects arguments for one variadic command on one key.
local function queue_write(command, key, ...)
  local name = command .. key
  local list = write_index[name]
  if not list then
    list = {}
    write_index[name] = list
    writes[#writes + 1] = { command, key, list }
  end
  for i = 1, select('#', ...) do
    list[#list + 1] = (select(i, ...))
  end
end

local function queue_command(...)
  commands[#commands + 1] = { ... }
end

local function event(...)
  rows[#rows + 1] = { ... }
end

local function ring(sleeper)
  bells[sleeper] = true
end

local function next_sequence()
  pool.sequence = pool.sequence + 1
  return pool.sequence
end
