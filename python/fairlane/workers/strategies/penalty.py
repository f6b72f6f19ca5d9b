"""A penalty on a worker's load, from its latency and error rate, so that slow and failing workers are chosen less."""

from math import log2
from typing import Final

from fairlane.workers.members.metrics import SMOOTHING
from fairlane.workers.strategies.base import Candidate

_MAX_SLOWDOWN: Final = 4.0
"""Cap on latency relative to the mean (a guess, as is the next)."""
_MAX_ERROR_FACTOR: Final = 8.0
"""The factor on the load of a worker that always fails."""


def severity(candidate: Candidate) -> float:
    """Return latency and errors as one figure, comparable only with earlier figures of the same worker."""
    latency_s = candidate.latency_s
    return _error_factor(candidate) * (1.0 if latency_s is None else latency_s)


class PenaltyEstimator:
    """A factor from 1 to 32: the worker's latency relative to the mean, times a factor for its error rate.

    The mean is a moving average over all workers. Each worker's latency counts in proportion to its success rate, since
    attempts that fail at once say nothing about how long work takes.
    """

    def __init__(self) -> None:
        self._mean_latency_s: float | None = None

    def level(self, candidate: Candidate) -> int:
        """Return log2 of the factor, rounded, so that workers with similar figures are treated alike.

        Compares the candidate with the mean so far, then adds it to the mean.
        """
        factor = _error_factor(candidate)
        latency_s = candidate.latency_s
        if latency_s is not None:
            factor *= self._slowdown(latency_s, 1.0 - (candidate.error_rate or 0.0))
        return round(log2(factor))

    def _slowdown(self, latency_s: float, success_rate: float) -> float:
        mean_s = latency_s if self._mean_latency_s is None else self._mean_latency_s
        self._mean_latency_s = mean_s + SMOOTHING * success_rate * (latency_s - mean_s)
        return min(max(1.0, latency_s / mean_s), _MAX_SLOWDOWN) if mean_s > 0 else 1.0


def _error_factor(candidate: Candidate) -> float:
    return 1.0 + (_MAX_ERROR_FACTOR - 1.0) * (candidate.error_rate or 0.0)
