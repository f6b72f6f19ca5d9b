"""A worker's last health check, and its health by the checks so far."""

from dataclasses import dataclass
from enum import StrEnum

from fairlane.clock import Clock


class CheckOutcome(StrEnum):
    """How one check ended."""

    HEALTHY = "healthy"
    UNHEALTHY = "unhealthy"
    """The worker reported itself unhealthy."""
    TIMEOUT = "timeout"
    """No answer in time, or the previous check still has none."""
    ERROR = "error"
    """The check raised."""


@dataclass(frozen=True, slots=True)
class HealthReport:
    """The last check of a worker."""

    worker_id: str
    outcome: CheckOutcome
    detail: str
    """For people; may be empty."""
    checked_s: float
    """When the check ended, by the checker's monotonic clock."""
    took_s: float
    failures: int
    """Consecutive failed checks; 0 after a good one."""
    successes: int
    """Consecutive good checks; 0 after a failed one."""
    healthy: bool
    """By the thresholds: whether the worker may get tasks."""

    def age_s(self, clock: Clock) -> float:
        """Return seconds since the check ended. ``clock`` must be the checker's."""
        return clock.monotonic_s() - self.checked_s
