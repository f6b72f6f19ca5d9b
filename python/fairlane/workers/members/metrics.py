"""A worker's attempt counts, and exponentially weighted moving averages of latency and errors."""

from dataclasses import dataclass
from typing import Final

SMOOTHING: Final = 0.2
"""Weight of the newest value in a moving average: about the last ten values count (a guess)."""


@dataclass(frozen=True, slots=True)
class WorkerMetrics:
    """A worker's figures at one instant. Averages are None until an attempt has ended since the last start."""

    successes: int = 0
    failures: int = 0
    latency_s: float | None = None
    """Moving average of the duration of attempts."""
    error_rate: float | None = None
    """Moving average of 1 for a failure and 0 for a success. It begins at 0: one failure alone says little."""


class MetricsAccumulator:
    """Collects the outcomes of attempts."""

    def __init__(self, smoothing: float = SMOOTHING) -> None:
        self._smoothing = smoothing
        self._metrics = WorkerMetrics()

    def record(self, latency_s: float, *, succeeded: bool) -> None:
        """Add one attempt."""
        old = self._metrics
        self._metrics = WorkerMetrics(
            successes=old.successes + succeeded,
            failures=old.failures + (not succeeded),
            latency_s=self._average(old.latency_s, latency_s),
            error_rate=self._average(old.error_rate or 0.0, 0.0 if succeeded else 1.0),
        )

    def reset_averages(self) -> None:
        """Forget the averages, since the worker has restarted; keep the counts."""
        self._metrics = WorkerMetrics(self._metrics.successes, self._metrics.failures)

    def read(self) -> WorkerMetrics:
        """Return the figures so far."""
        return self._metrics

    def _average(self, old: float | None, new: float) -> float:
        return new if old is None else old + self._smoothing * (new - old)
