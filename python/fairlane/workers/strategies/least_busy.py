"""The least busy worker, while slow and failing ones count as busier for as long as there is reason to think so."""

from collections.abc import Collection
from dataclasses import dataclass
from math import inf
from typing import Final

from fairlane.clock import Rng
from fairlane.workers.strategies.base import Candidate
from fairlane.workers.strategies.bias import Bias, trouble
from fairlane.workers.strategies.heap import AddressableHeap
from fairlane.workers.strategies.turns import Turns

_PATIENCE: Final = 4
"""A worker that counts as n times as busy counts as half of that after n times so many turns of others (a guess)."""


def slots(candidate: Candidate) -> float:
    """Return how many tasks it executes at once."""
    return candidate.capacity


@dataclass(slots=True)
class _Standing:
    """What was last told of a worker, and what is made of it."""

    news: tuple[int, float | None, float | None] | None = None
    trouble: float = 0.0
    capacity: int = 0
    level: int = 0
    due: float = inf
    """The lap in which the level falls."""

    @property
    def width(self) -> float:
        return self.capacity / 2.0**self.level


class LeastBusyEwma:
    """See Strategy. The smallest share of its slots is next, which count as half as many for each level of its bias.

    An attempt that has ended says anew what the level is; it does not rise if the worker does better than before. While
    a worker has nothing to do, nothing more is learned of it, and the level falls with the turns of others, the sooner
    the lower it is. So every worker is tried again, and one that was worse, later.
    """

    def __init__(self, rng: Rng) -> None:
        self._turns = Turns(rng, width_of=lambda candidate: self._standings[candidate.id].width, ahead=1)
        self._bias = Bias()
        self._standings: dict[str, _Standing] = {}
        self._fading = AddressableHeap()
        """Those whose level falls, by when it does."""

    def put(self, candidate: Candidate) -> None:
        """See Strategy."""
        standing = self._standings.setdefault(candidate.id, _Standing())
        standing.capacity = candidate.capacity
        self._hear(standing, candidate)
        self._turns.put(candidate)
        if standing.level == 0 or candidate.load > 0:
            standing.due = inf
            self._fading.discard(candidate.id)
        elif standing.due == inf:
            self._plan(candidate.id, standing)
        self._fade()

    def remove(self, worker_id: str) -> None:
        """See Strategy."""
        self._standings.pop(worker_id, None)
        self._fading.discard(worker_id)
        self._turns.remove(worker_id)

    def choose(self, avoid: Collection[str] = (), tasks: int = 1) -> str | None:
        """See Strategy."""
        return self._turns.choose(avoid, tasks)

    def undo(self, worker_id: str, tasks: int = 1) -> None:
        """See Strategy."""
        self._turns.undo(worker_id, tasks)

    def _hear(self, standing: _Standing, candidate: Candidate) -> None:
        news = (candidate.ended, candidate.latency_s, candidate.error_rate)
        if news == standing.news:
            return
        level, before, standing.trouble = self._bias.level(candidate), standing.trouble, trouble(candidate)
        standing.level = level if standing.trouble >= before else min(level, standing.level)
        standing.news, standing.due = news, inf

    def _plan(self, worker_id: str, standing: _Standing) -> None:
        standing.due = self._turns.laps + _PATIENCE * 2.0**standing.level
        self._fading.put(worker_id, standing.due, 0)

    def _fade(self) -> None:
        """Lower the level of the first that is due, if any is; more than one for each put hardly become due."""
        worker_id = self._fading.first()
        if worker_id is None or self._standings[worker_id].due > self._turns.laps:
            return
        standing = self._standings[worker_id]
        standing.level -= 1
        self._turns.widen(worker_id, standing.width)
        if standing.level:
            self._plan(worker_id, standing)
        else:
            standing.due = inf
            self._fading.discard(worker_id)
