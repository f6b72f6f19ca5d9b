"""What is known of a worker's health: its last check, and what the checks so far add up to."""

from dataclasses import dataclass
from enum import StrEnum

from fairlane.clock import Clock


class CheckOutcome(StrEnum):
    """How one check ended."""

    HEALTHY = "healthy"
    UNHEALTHY = "unhealthy"
    """The worker said so itself."""
    TIMEOUT = "timeout"
    """No answer in time, or the check before still has none."""
    ERROR = "error"
    """The check raised."""


@dataclass(frozen=True, slots=True)
class HealthReport:
    """The last check of a worker."""

    worker_id: str
    outcome: CheckOutcome
    detail: str
    """For people; empty if there is nothing to say."""
    checked_s: float
    """When the outcome was known, by the checker's monotonic clock."""
    took_s: float
    failures: int
    """Failed checks in a row; 0 after a good one."""
    successes: int
    """Good checks in a row; 0 after a failed one."""
    well: bool
    """Whether it may be given tasks, by the thresholds."""

    def age_s(self, clock: Clock) -> float:
        """Seconds since the outcome was known, by the clock that the checker was given."""
        return clock.monotonic_s() - self.checked_s
