"""Transports: where a worker executes its tasks."""
