"""Plans: which workers are offered to the next tasks, in which order, by a strategy that chooses one at a time.

A plan only proposes. The store places each task with the first worker of the plan that still has a free slot, and
may place fewer tasks than the plan offers: so a plan interleaves the workers instead of filling one after the other,
and unused turns are undone. While nothing waits, the store keeps the first places that are left, for tasks to come.
Busy workers serve themselves, so a plan can also bound a worker to its share: it offers minus that number of places.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain, islice, repeat
from math import ceil
from typing import Final

from fairlane.workers.errors import WorkerError, WorkerErrorCode
from fairlane.workers.strategies import Candidate, Strategy

Places = list[tuple[str, int]]
"""Incarnation and how many tasks it is offered, in order; an incarnation may appear again."""

_ASIDE: Final = 32
KEPT: Final = 32
"""How many places the store keeps at most; of these each is a turn of its own."""
_AHEAD: Final = 2
"""A turn is at most this part of what a worker has on average: plans stay short, and no worker gets far ahead."""


class Planner:
    """Keeps what was last heard of the workers, and lets a strategy choose among them."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy
        self._workers: dict[str, Candidate] = {}
        self._open: Places = []
        """The plan that has no answer yet."""
        self._kept: list[str] = []
        """The incarnations of the places that the store has kept, in order."""
        self.outdated = False
        """Whether the last plan was made before it was known which of the kept places had been taken."""

    @property
    def kept(self) -> int:
        """How many places the store has kept, as far as is known here."""
        return len(self._kept)

    @property
    def has_free(self) -> bool:
        """Whether any worker had a free slot when last heard of."""
        return any(worker.available for worker in self._workers.values())

    @property
    def uneven(self) -> bool:
        """Whether a worker has more than its share of the tasks, and another one less."""
        return any(True for _ in self._shares())

    def know(self, workers: Mapping[str, tuple[int, int]]) -> None:
        """Take in all the workers there are: incarnation to slots and free slots. A plan without answer is over."""
        self._take_back(0, {})
        for incarnation in self._workers.keys() - workers.keys():
            self._forget(incarnation)
        for incarnation, (slots, free) in workers.items():
            self._put(incarnation, slots, slots - free)

    def plan(self, limit: int, *, level: bool = False) -> Places:
        """Offer at most ``limit`` places, and to no worker more than it has free.

        Some of the workers left out are named with 0 places, so that the answer covers them. When every worker was
        full when last heard of, all are offered: the store knows better. If the previous plan was not
        answered, none of its places counts as used. ``level``: no more tasks may run, so that workers with more than
        their share are bound to it.

        Raises:
            WorkerError: invalid_configuration: the strategy chose a worker that it was to avoid.
        """
        self._take_back(0, {})
        if not self.has_free:
            for worker in list(self._workers.values()):
                self._put(worker.id, worker.capacity, 0)
        offered = self._offer(limit)
        named = {incarnation for incarnation, _ in offered}
        unnamed = islice((incarnation for incarnation in self._workers if incarnation not in named), _ASIDE)
        self._open = offered + [(incarnation, 0) for incarnation in unnamed]
        if level:
            self._open += [(incarnation, -share) for incarnation, share in self._shares()]
        return self._open

    def answered(self, placed: int, free: Mapping[str, int], *, unused: int = 0, kept: int | None = 0) -> None:
        """Learn how many tasks were placed along the plan, and the free slots now.

        ``unused``: how many of the places that the store had kept before were not taken. ``kept``: how many it has kept
        of this plan; None: those before still stand. A worker of the plan that ``free`` leaves out is gone.
        """
        named = {incarnation for incarnation, _ in self._open}
        left = self._take_back(placed, free)
        before = max(0, len(self._kept) - unused)
        used = Counter(self._kept[:before])
        self.outdated = kept is None
        if kept is None:
            self._kept = self._kept[before:]
        else:
            self._kept = list(islice(chain.from_iterable(repeat(*place) for place in left), kept))
        for incarnation, tasks in used.items():
            if incarnation in self._workers:
                self._strategy.choose(self._workers.keys() - {incarnation}, tasks)  # its turns
                self._strategy.put(self._workers[incarnation])
        for incarnation in named:
            if incarnation in free:
                slots = self._workers[incarnation].capacity
                self._put(incarnation, slots, slots - free[incarnation])
            else:
                self._forget(incarnation)

    def _offer(self, limit: int) -> Places:
        free = {worker.id: worker.capacity - worker.load for worker in self._workers.values() if worker.available}
        workers = len(free)
        full: list[str] = []
        offered: Places = []
        planned = 0
        while planned < limit:
            turn = self._turn(planned, limit, workers)
            chosen = self._strategy.choose(full, turn)
            if chosen is None:
                break
            count = min(turn, free.get(chosen, 0))
            if count < turn:
                self._strategy.undo(chosen, turn - count)
            if count:
                free[chosen] -= count
                offered.append((chosen, count))
                planned += count
            elif chosen not in full:  # the strategy does not count its choices as load, as it should
                full.append(chosen)
            else:
                raise WorkerError(
                    WorkerErrorCode.INVALID_CONFIGURATION,
                    f"the strategy chose {chosen}, which has no free slot, and which it was to avoid",
                    worker=chosen,
                )
        return offered

    def _shares(self) -> Iterator[tuple[str, int]]:
        """Yield the workers with more than one task above their share, which is in proportion to their slots."""
        tasks = sum(worker.load for worker in self._workers.values())
        slots = sum(worker.capacity for worker in self._workers.values())
        for worker in self._workers.values():
            share = ceil(tasks * worker.capacity / slots)
            if worker.load > share + 1:
                yield worker.id, share

    def _turn(self, planned: int, limit: int, workers: int) -> int:
        """Return how many tasks the next worker is offered at once."""
        if workers == 1:
            return limit
        if planned < KEPT:
            return 1
        return max(1, min(planned // (_AHEAD * workers), (limit - planned) // workers))

    def _take_back(self, placed: int, free: Mapping[str, int]) -> Places:
        """Undo, and return, what was offered beyond the tasks that were placed, which follow the order of the plan."""
        left: Places = []
        for incarnation, count in self._open:
            took = min(max(0, count), placed) if incarnation in free else 0
            placed -= took
            left.append((incarnation, max(0, count) - took))
        for incarnation, count in left:
            if count > 0:
                self._strategy.undo(incarnation, count)
        self._open = []
        return left

    def _put(self, incarnation: str, slots: int, load: int) -> None:
        worker = self._workers[incarnation] = Candidate(incarnation, slots, load, True, slots)
        self._strategy.put(worker)

    def _forget(self, incarnation: str) -> None:
        self._workers.pop(incarnation, None)
        self._strategy.remove(incarnation)
