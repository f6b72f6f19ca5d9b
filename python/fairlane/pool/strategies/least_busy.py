"""How wide workers are for the least busy one: by their slots, and by how slow and unreliable they are."""

from math import log2
from typing import Final

from fairlane.pool.metrics import SMOOTHING
from fairlane.pool.strategies.base import Candidate

_SLOWEST: Final = 4.0
"""A worker that is slower than this many times the usual counts as no slower (a guess, as is the next)."""
_WORST: Final = 8.0
"""A worker that always fails counts as this many times as busy."""


def slots(candidate: Candidate) -> float:
    """Return how many tasks it executes at once."""
    return candidate.capacity


class BiasedSlots:
    """Its slots, divided by a bias from 1 to 32: how many times slower than usual it is, times what its errors cost.

    The bias is rounded to a power of two, so that workers that differ by little take turns. What is usual is a moving
    average of what was told of all workers, each counted as far as it succeeds: one that fails at once says nothing
    about how long work takes.
    """

    def __init__(self) -> None:
        self._usual_s: float | None = None

    def __call__(self, candidate: Candidate) -> float:
        """Return the slots by what is known so far, and learn from what is told."""
        errors = candidate.error_rate or 0.0
        bias = 1.0 + (_WORST - 1.0) * errors
        latency_s = candidate.latency_s
        if latency_s is not None:
            bias *= self._slowness(latency_s, 1.0 - errors)
        return candidate.capacity / 2.0 ** round(log2(bias))

    def _slowness(self, latency_s: float, trust: float) -> float:
        usual_s = latency_s if self._usual_s is None else self._usual_s
        self._usual_s = usual_s + SMOOTHING * trust * (latency_s - usual_s)
        return min(max(1.0, latency_s / usual_s), _SLOWEST) if usual_s > 0 else 1.0
