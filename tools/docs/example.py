"""The configuration file that docs/configuration.md shows. It uses every section."""

from typing import Final

EXAMPLE: Final = """\
name = "default"                 # schedulers with one name on one server share one pool

[pool]                           # one provider key, or one model
slots = 32                       # at most 32 tasks in flight
quantum_units = 500              # a round: about a typical cost
max_attempts = 3
starts = { limit = 600, interval_ms = 60_000 }        # 600 RPM over all tenants

[tenants.acme]
weight = 2                       # twice globex's share
budget = { limit_units = 5_000_000, period_ms = 86_400_000, when_exhausted = "wait" }
starts = { limit = 120, interval_ms = 60_000 }        # 120 RPM

[tenants.globex]
slots = 4
cost_ceiling_units = 20_000
queue_limit = 10_000

[dispatcher]
strategy = "least-busy"

[workers]
count = 2
slots = 16                       # of each worker
grace_ms = 30_000                # when a worker stops, its tasks have 30 s to finish

[health]
failure_threshold = 3

[supervisor]
max_restarts = 1_000

[controller]
minimum_slots = 2                # throttles halve the capacity, down to this

[client.estimates]               # estimate the cost of tasks submitted without one
output_tokens = 512
overrun_probability = 0.05

[server]
url = "redis://127.0.0.1:6379"   # a password belongs in FAIRLANE_REDIS_URL instead

[ray]
num_cpus = 2
"""
