"""How much busier than it is a worker counts, by what is known of its latency and errors. Knows nothing of turns."""

from math import log2
from typing import Final

from fairlane.workers.members.metrics import SMOOTHING
from fairlane.workers.strategies.base import Candidate

_SLOWEST: Final = 4.0
"""A worker that is slower than this many times the usual counts as no slower (a guess, as is the next)."""
_WORST: Final = 8.0
"""A worker that always fails counts as this many times as busy."""


def trouble(candidate: Candidate) -> float:
    """Return what a worker's latency and errors come to, to be compared with the same worker's before."""
    latency_s = candidate.latency_s
    return _cost(candidate) * (1.0 if latency_s is None else latency_s)


class Bias:
    """From 1 to 32: how many times slower than usual a worker is, times what its errors cost.

    What is usual is a moving average of what was told of all workers, each counted as far as it succeeds: one that
    fails at once says nothing about how long work takes.
    """

    def __init__(self) -> None:
        self._usual_s: float | None = None

    def level(self, candidate: Candidate) -> int:
        """Return how often the bias has doubled, rounded, so that workers that differ by little are alike.

        What is told is compared with what is known so far, and then learned from.
        """
        bias = _cost(candidate)
        latency_s = candidate.latency_s
        if latency_s is not None:
            bias *= self._slowness(latency_s, 1.0 - (candidate.error_rate or 0.0))
        return round(log2(bias))

    def _slowness(self, latency_s: float, trust: float) -> float:
        usual_s = latency_s if self._usual_s is None else self._usual_s
        self._usual_s = usual_s + SMOOTHING * trust * (latency_s - usual_s)
        return min(max(1.0, latency_s / usual_s), _SLOWEST) if usual_s > 0 else 1.0


def _cost(candidate: Candidate) -> float:
    return 1.0 + (_WORST - 1.0) * (candidate.error_rate or 0.0)
