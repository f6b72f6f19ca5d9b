--- @include worker
-- The worker that calls; w: nil if it is unknown or lost, and its writes are refused.
local incarnation = request.incarnation
local w = live_worker(incarnation)
