"""How a scheduler watches its workers: other defaults than for a pool of one's own."""

from typing import Annotated

from pydantic import Field

from fairlane.config.pool import HealthConfig, SupervisorConfig
from fairlane.config.section import Milliseconds, MillisecondsOrZero


class WorkerHealthConfig(HealthConfig):
    """When a worker that still runs is taken for hung: by default after about 6 s without an answer."""

    interval_ms: Milliseconds = 250
    """How soon the end of a process on another machine is noticed; on this one it is at once."""


class WorkerSupervisorConfig(SupervisorConfig):
    """How failed workers are brought back. The default limit is never reached: workers are restarted for ever."""

    backoff_base_ms: MillisecondsOrZero = 50
    backoff_cap_ms: Milliseconds = 2_000
    max_restarts: Annotated[int, Field(strict=True, ge=0, le=1_000_000)] = 1_000
    """Within the window; a worker that needs more is ended for good."""
