"""How a scheduler watches its processes: other defaults than for a pool of one's own."""

from typing import Annotated

from pydantic import Field

from fairlane.config.section import Milliseconds, MillisecondsOrZero
from fairlane.config.workers import HealthConfig, SupervisorConfig


class WorkerHealthConfig(HealthConfig):
    """When a worker, dispatcher or controller that still runs is taken for hung: after about 7 s without an answer."""

    interval_ms: Milliseconds = 500
    """Between two checks. The end of a process on the scheduler's machine is noticed without one, at once; on another
    machine, with the first check that follows, about a second after it began."""
    success_threshold: Annotated[int, Field(strict=True, ge=1, le=1)] = 1
    """Only 1: a worker that is back gets tasks as soon as it has registered with the store, before any check."""


class WorkerSupervisorConfig(SupervisorConfig):
    """How failed workers are brought back. The default limit is never reached: workers are restarted for ever."""

    backoff_base_ms: MillisecondsOrZero = 50
    backoff_cap_ms: Milliseconds = 2_000
    max_restarts: Annotated[int, Field(strict=True, ge=0, le=1_000_000)] = 1_000
    """Within the window; a worker that needs more is ended for good."""
