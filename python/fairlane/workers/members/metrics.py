"""How a worker has been doing: counts, and averages that forget."""

from dataclasses import dataclass
from typing import Final

SMOOTHING: Final = 0.2
"""Weight of the newest value in an exponentially weighted moving average: about the last ten values count (a guess)."""


@dataclass(frozen=True, slots=True)
class WorkerMetrics:
    """A worker's figures at one instant. Averages are None before the first attempt since its last start has ended."""

    successes: int = 0
    failures: int = 0
    latency_s: float | None = None
    """Moving average of how long attempts took."""
    error_rate: float | None = None
    """Moving average of 1 for a failure and 0 for a success, from 0 on: one failure alone says little."""


class MetricsAccumulator:
    """Takes in how attempts ended."""

    def __init__(self, smoothing: float = SMOOTHING) -> None:
        self._smoothing = smoothing
        self._metrics = WorkerMetrics()

    def ended(self, latency_s: float, *, well: bool) -> None:
        """Take in one attempt."""
        old = self._metrics
        self._metrics = WorkerMetrics(
            successes=old.successes + well,
            failures=old.failures + (not well),
            latency_s=self._average(old.latency_s, latency_s),
            error_rate=self._average(old.error_rate or 0.0, 0.0 if well else 1.0),
        )

    def forget(self) -> None:
        """Begin the averages anew: they were those of a former life. The counts go on."""
        self._metrics = WorkerMetrics(self._metrics.successes, self._metrics.failures)

    def read(self) -> WorkerMetrics:
        """Return the figures so far."""
        return self._metrics

    def _average(self, old: float | None, new: float) -> float:
        return new if old is None else old + self._smoothing * (new - old)
