"""How a `fairlane.workers` of your own checks its workers, restarts them, and gives them tasks."""

from typing import Annotated

from pydantic import Field

from fairlane.config.section import Milliseconds, MillisecondsOrZero, Section

Count = Annotated[int, Field(strict=True, ge=1, le=1_000)]


class HealthConfig(Section):
    """When a worker counts as unhealthy."""

    interval_ms: Milliseconds = 1_000
    """Between the end of one check and the beginning of the next."""
    jitter: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.1
    """Each interval is longer or shorter by up to this fraction, so that checks of many workers do not coincide."""
    timeout_ms: Milliseconds = 2_000
    """A check that takes longer has failed."""
    failure_threshold: Count = 3
    """After this many failed checks in a row, the worker gets no tasks."""
    success_threshold: Count = 1
    """After this many successful checks in a row, it gets tasks again."""


class SupervisorConfig(Section):
    """How failed workers are restarted."""

    backoff_base_ms: MillisecondsOrZero = 100
    """The longest wait before the first restart."""
    backoff_cap_ms: Milliseconds = 10_000
    """Each restart waits a random time up to min(cap, base * 2^restarts within the window)."""
    max_restarts: Annotated[int, Field(strict=True, ge=0, le=1_000_000)] = 10
    """Restarts within the window. A worker that needs more is given up."""
    window_ms: Milliseconds = 60_000
    """The time over which restarts are counted."""
    start_timeout_ms: Milliseconds = 30_000
    """A restart, or the manager's first start of a worker, fails if it takes longer."""


class ManagerConfig(Section):
    """How tasks find workers, and what happens when one fails."""

    strategy: Annotated[str, Field(min_length=1, max_length=200)] = "least-busy"
    """Which worker gets the next task: a registered name, or ``package.module:attribute``."""
    retries: Annotated[int, Field(strict=True, ge=0, le=100)] = 2
    """Further attempts after the first, on other workers if there are any."""
    backoff_base_ms: MillisecondsOrZero = 50
    """The longest wait before the first retry."""
    backoff_cap_ms: Milliseconds = 2_000
    """Each retry waits a random time up to min(cap, base * 2^retries before)."""
    queue_limit: Annotated[int, Field(strict=True, ge=0, le=10**7)] = 1_000
    """How many tasks may wait for a free slot. Further ones are refused with ``queue_full``."""
    attempt_timeout_ms: Milliseconds | None = None
    """An attempt that takes longer counts as lost, with its worker's slot, and is retried elsewhere; None: no limit."""
    stop_grace_ms: MillisecondsOrZero = 10_000
    """How long running tasks may take to finish when the manager stops."""
    health: HealthConfig | None = HealthConfig()
    """None: workers are not checked."""
    supervisor: SupervisorConfig | None = SupervisorConfig()
    """None: failed workers are not restarted."""
