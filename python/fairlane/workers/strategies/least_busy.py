"""The least-utilised worker is next, where a decaying penalty makes slow and failing workers count as busier."""

from collections.abc import Collection
from dataclasses import dataclass
from math import inf
from typing import Final

from fairlane.clock import Rng
from fairlane.workers.strategies.base import Candidate
from fairlane.workers.strategies.heap import AddressableHeap
from fairlane.workers.strategies.penalty import PenaltyEstimator, severity
from fairlane.workers.strategies.stride import StrideScheduler

_DECAY_ROUNDS: Final = 4
"""A penalty of factor n halves after n times this number of rounds in which its worker is idle (a guess)."""


def slots(candidate: Candidate) -> float:
    """Return the number of tasks the worker executes at once."""
    return candidate.capacity


@dataclass(slots=True)
class _WorkerPenalty:
    """A worker's last figures and the penalty derived from them."""

    figures: tuple[int, float | None, float | None] | None = None
    severity: float = 0.0
    capacity: int = 0
    level: int = 0
    """log2 of the penalty's factor."""
    decays_at: float = inf
    """The round in which the level falls by one."""

    @property
    def effective_capacity(self) -> float:
        return self.capacity / 2.0**self.level


class LeastBusyEwma:
    """See Strategy. Chooses the lowest utilisation of slots, where each penalty level halves a worker's slots.

    Each ended attempt sets the level again; the level does not rise while the worker's own figures improve. An idle
    worker yields no new figures, so its level decays with the turns of others, low levels sooner. Every worker is
    therefore tried again, and a worse one later.
    """

    def __init__(self, rng: Rng) -> None:
        self._scheduler = StrideScheduler(
            rng, capacity_of=lambda candidate: self._penalties[candidate.id].effective_capacity, extra_load=1
        )
        self._estimator = PenaltyEstimator()
        self._penalties: dict[str, _WorkerPenalty] = {}
        self._decaying = AddressableHeap()
        """Idle workers with a penalty, by the round of their next decay."""

    def put(self, candidate: Candidate) -> None:
        """See Strategy."""
        penalty = self._penalties.setdefault(candidate.id, _WorkerPenalty())
        penalty.capacity = candidate.capacity
        self._update_level(penalty, candidate)
        self._scheduler.put(candidate)
        if penalty.level == 0 or candidate.load > 0:
            penalty.decays_at = inf
            self._decaying.discard(candidate.id)
        elif penalty.decays_at == inf:
            self._schedule_decay(candidate.id, penalty)
        self._decay_next()

    def remove(self, worker_id: str) -> None:
        """See Strategy."""
        self._penalties.pop(worker_id, None)
        self._decaying.discard(worker_id)
        self._scheduler.remove(worker_id)

    def choose(self, avoid: Collection[str] = (), tasks: int = 1) -> str | None:
        """See Strategy."""
        return self._scheduler.choose(avoid, tasks)

    def undo(self, worker_id: str, tasks: int = 1) -> None:
        """See Strategy."""
        self._scheduler.undo(worker_id, tasks)

    def _update_level(self, penalty: _WorkerPenalty, candidate: Candidate) -> None:
        figures = (candidate.ended, candidate.latency_s, candidate.error_rate)
        if figures == penalty.figures:
            return
        level, before = self._estimator.level(candidate), penalty.severity
        penalty.severity = severity(candidate)
        penalty.level = level if penalty.severity >= before else min(level, penalty.level)
        penalty.figures, penalty.decays_at = figures, inf

    def _schedule_decay(self, worker_id: str, penalty: _WorkerPenalty) -> None:
        penalty.decays_at = self._scheduler.rounds + _DECAY_ROUNDS * 2.0**penalty.level
        self._decaying.put(worker_id, penalty.decays_at, 0)

    def _decay_next(self) -> None:
        """Lower the level of the first worker that is due. One per put suffices: rarely more than one becomes due."""
        worker_id = self._decaying.first()
        if worker_id is None or self._penalties[worker_id].decays_at > self._scheduler.rounds:
            return
        penalty = self._penalties[worker_id]
        penalty.level -= 1
        self._scheduler.set_capacity(worker_id, penalty.effective_capacity)
        if penalty.level:
            self._schedule_decay(worker_id, penalty)
        else:
            penalty.decays_at = inf
            self._decaying.discard(worker_id)
