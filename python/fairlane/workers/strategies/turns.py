"""Turns: the strategy that orders workers by how busy they are (or not at all), then by the turns they have had.

Stride scheduling: each worker stands at a place on a line of virtual time, its next turn begins there, and a turn
moves it on by its stride. The one furthest behind is next; equal strides are round-robin, strides inverse to weights
are smooth weighted round-robin. In integers, so that a turn taken back leaves nothing behind.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from math import inf
from typing import Final

from fairlane.clock import Rng
from fairlane.workers.strategies.base import Candidate
from fairlane.workers.strategies.heap import AddressableHeap

STRIDE: Final = 2**40
"""Of weight 1. A stride is this divided by a weight, off by less than a millionth of itself."""


def equal_strides(_: Candidate) -> int:
    """Let every worker have as many turns."""
    return STRIDE


def strides_by_weight(candidate: Candidate) -> int:
    """Let workers have turns in proportion to their weights."""
    return STRIDE // candidate.weight


def boundless(_: Candidate) -> float:
    """Let nobody be busier than another: turns alone decide."""
    return inf


@dataclass(slots=True)
class _Seat:
    stride: int
    place: int
    """Where its next turn begins."""
    began: int
    """Where the first of its turns since it was last put began, if it had any."""
    slots: int = 0
    """None unless it is ready."""
    load: int = 0
    width: float = inf
    """The load at which its share is 1."""


class Turns:
    """See Strategy. The smallest share, load / width, is next; of equal shares, the one furthest behind.

    The floor is where the latest turns began that a put has followed, and that are no more taken back therefore. A
    worker that is put while behind it is moved up to it; a newcomer begins within one stride from it, at random, so
    that several choosers are not in step.
    """

    def __init__(
        self,
        rng: Rng,
        *,
        stride_of: Callable[[Candidate], int] = equal_strides,
        width_of: Callable[[Candidate], float] = boundless,
        ahead: int = 0,
    ) -> None:
        """Count ``ahead`` tasks more than its load for every worker."""
        self._rng = rng
        self._stride_of = stride_of
        self._width_of = width_of
        self._ahead = ahead
        self._seats: dict[str, _Seat] = {}
        self._order = AddressableHeap()
        self._floor = 0

    @property
    def laps(self) -> int:
        """How many turns of weight 1 those ahead have had, that are no more taken back."""
        return self._floor // STRIDE

    def put(self, candidate: Candidate) -> None:
        """See Strategy."""
        stride = self._stride_of(candidate)
        seat = self._seats.get(candidate.id)
        if seat is None:
            place = self._floor + int(self._rng.uniform(0, stride))
            seat = self._seats[candidate.id] = _Seat(stride, place, place)
        else:
            self._keep_up(seat, stride)
        seat.slots = candidate.capacity if candidate.ready else 0
        seat.load = candidate.load
        seat.width = self._width_of(candidate)
        self._settle(candidate.id, seat)

    def widen(self, worker_id: str, width: float) -> None:
        """Change the load at which a known worker's share is 1."""
        seat = self._seats[worker_id]
        seat.width = width
        self._settle(worker_id, seat)

    def remove(self, worker_id: str) -> None:
        """See Strategy."""
        self._seats.pop(worker_id, None)
        self._order.discard(worker_id)

    def choose(self, avoid: Collection[str] = (), tasks: int = 1) -> str | None:
        """See Strategy."""
        chosen = self._order.first(avoid)
        if chosen is not None:
            self._turn(chosen, self._seats[chosen], tasks)
        return chosen

    def undo(self, worker_id: str, tasks: int = 1) -> None:
        """See Strategy."""
        seat = self._seats.get(worker_id)
        if seat is not None:
            self._turn(worker_id, seat, -tasks)

    def _keep_up(self, seat: _Seat, stride: int) -> None:
        """Raise the floor to the worker's turns, and the worker to the floor; what it is ahead stays, in turns."""
        if seat.place > seat.began:
            self._floor = max(self._floor, seat.began)
        ahead = max(0, seat.place - self._floor)
        if seat.stride != stride:
            ahead = ahead * stride // seat.stride
            seat.stride = stride
        seat.place = seat.began = self._floor + ahead

    def _turn(self, worker_id: str, seat: _Seat, tasks: int) -> None:
        seat.place += tasks * seat.stride
        seat.load += tasks
        self._settle(worker_id, seat)

    def _settle(self, worker_id: str, seat: _Seat) -> None:
        if seat.load < seat.slots:
            share = (seat.load + self._ahead) / seat.width if seat.width < inf else 0.0
            self._order.put(worker_id, share, seat.place)
        else:
            self._order.discard(worker_id)
