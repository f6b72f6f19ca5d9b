"""Brings a caller's task to a worker with a free slot: queueing, placement, retries and deadlines."""
