"""How a scheduler checks and restarts its own processes: other defaults than for a `fairlane.workers` of your own."""

from typing import Annotated

from pydantic import Field

from fairlane.config.section import Milliseconds, MillisecondsOrZero
from fairlane.config.workers import HealthConfig, SupervisorConfig


class WorkerHealthConfig(HealthConfig):
    """When a worker, dispatcher or controller that still runs counts as hung: after about 7 s without an answer."""

    interval_ms: Milliseconds = 500
    """Between two checks. If a process on the scheduler's machine ends, the scheduler notices at once, without a check;
    on another machine, with the next check, which takes about a second to fail."""
    success_threshold: Annotated[int, Field(strict=True, ge=1, le=1)] = 1
    """Only 1: a worker that comes back gets tasks as soon as it has registered with the store, before any check."""


class WorkerSupervisorConfig(SupervisorConfig):
    """How failed actors are restarted. The default limit is so high that workers are restarted for ever."""

    backoff_base_ms: MillisecondsOrZero = 50
    backoff_cap_ms: Milliseconds = 2_000
    max_restarts: Annotated[int, Field(strict=True, ge=0, le=1_000_000)] = 1_000
    """Restarts within the window. A worker that needs more is removed; dispatcher and controller have no limit."""
