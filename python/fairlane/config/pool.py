"""The pool: the shared scarce thing, and the rules for sharing it."""

from typing import Annotated

from pydantic import Field

from fairlane.config.allowance import WindowConfig
from fairlane.config.section import Milliseconds, MillisecondsOrZero, Section, Slots, Units
from fairlane.domain.limits import MAX_DURATION_MS, MAX_QUANTUM
from fairlane.domain.policy import QueuePolicy, ThrottleScope


class PoolConfig(Section):
    """The shared scarce thing: one provider key, or one model."""

    policy: QueuePolicy = QueuePolicy.WDRR
    """Which task starts next: tenants take turns by weight and token cost (``wdrr``), the lowest priority number goes
    first (``priority``), or the oldest task goes first (``fifo``). Cannot change while tasks wait or run."""
    slots: Slots = 64
    """The hard limit of tasks in flight. The controller moves the capacity below it."""
    cost_ceiling_units: Units | None = None
    """The sum of the estimated costs that may be in flight at once, over all tenants; None: no limit."""
    quantum_units: Annotated[int, Field(strict=True, ge=1, le=MAX_QUANTUM)] = 1000
    """The length of a round: the service of a tenant of weight 1 while every waiting tenant gets its share. It decides
    no order. A tenant that was charged too much catches up at once by at most this and four times the actual cost,
    then at up to eight times its pace. Cannot change while tasks wait or run."""
    max_attempts: Annotated[int, Field(strict=True, ge=1, le=1000)] = 3
    """A task fails after this many provider failures."""
    max_recoveries: Annotated[int, Field(strict=True, ge=0, le=1000)] = 3
    """How many lost workers a task survives; with one more it is dead. After the last one it runs alone on its
    worker."""
    lease_ms: Annotated[int, Field(strict=True, ge=100, le=3_600_000)] = 10_000
    """How long a worker keeps its tasks without a heartbeat; at least twice ``workers.heartbeat_ms``."""
    throttle_scope: ThrottleScope = ThrottleScope.POOL
    """What waits after a provider's throttle: the whole pool, or only the throttled task."""
    default_pause_ms: Milliseconds = 1_000
    """The pause after a throttle without a usable Retry-After, and the longest pause after one of 0."""
    resume_ramp_ms: MillisecondsOrZero = 1_000
    """After a throttle's pause the slots come back evenly over this time, but never over more than the length of the
    pause, or of the ramp that it interrupts; 0: at once."""
    retention_ms: Annotated[int, Field(strict=True, ge=1_000, le=MAX_DURATION_MS)] = 300_000
    """How long the record and the result of an ended task stay on the server; at least twice ``client.heartbeat_ms``. A
    client that stands still for longer loses results that it waits for."""
    idempotency_ms: MillisecondsOrZero = 3_600_000
    """How much longer a task id that the caller chose stays known: submitting it again starts no new task."""
    event_limit: Annotated[int, Field(strict=True, ge=0, le=10**8)] = 100_000
    """About how many entries the event stream keeps; 0 switches events off."""
    event_bytes: Annotated[int, Field(strict=True, ge=2**16, le=2**40)] = 64 * 2**20
    """About how many bytes the entries of the event stream may have together, if they are alike; never more than twice
    that. Large batches make large entries."""
    starts: WindowConfig | None = None
    """Rate limit on starts of tasks over all tenants, such as requests per minute (RPM)."""
    spend: WindowConfig | None = None
    """Rate limit on the estimated cost of the tasks that start, over all tenants, such as tokens per minute (TPM)."""
