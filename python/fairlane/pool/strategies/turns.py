"""Turns: the strategy that orders workers by a share of theirs, then by the turns they have had.

Stride scheduling: each worker stands at a place on a line of virtual time, its next turn begins there, and a turn
moves it on by its stride. The one furthest behind is next; equal strides are round-robin, strides inverse to weights
are smooth weighted round-robin. Integers, so that a turn taken back leaves nothing behind.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

from fairlane.clock import Rng
from fairlane.pool.strategies.base import Candidate
from fairlane.pool.strategies.heap import AddressableHeap

STRIDE: Final = 2**40
"""Of weight 1. The largest weight divides it with an error of less than a millionth."""


def equal_strides(_: Candidate) -> int:
    """Let every worker have as many turns."""
    return STRIDE


def strides_by_weight(candidate: Candidate) -> int:
    """Let workers have turns in proportion to their weights."""
    return STRIDE // candidate.weight


def no_share(_: Candidate) -> float:
    """Let turns alone decide."""
    return 0.0


@dataclass(slots=True)
class _Seat:
    stride: int
    place: int
    """Where its next turn begins."""
    share: float
    available: bool


class Turns:
    """See Strategy. The smallest share is next; of equal shares, the one furthest behind with its turns.

    The floor is where the latest turn known to be over with began. Nobody who is put stands behind it: a newcomer
    begins at random within one stride from it, so that several choosers are not in step.
    """

    def __init__(
        self,
        rng: Rng,
        *,
        stride_of: Callable[[Candidate], int] = equal_strides,
        share_of: Callable[[Candidate], float] = no_share,
    ) -> None:
        self._rng = rng
        self._stride_of = stride_of
        self._share_of = share_of
        self._seats: dict[str, _Seat] = {}
        self._order: AddressableHeap[tuple[float, int]] = AddressableHeap()
        self._floor = 0

    def put(self, candidate: Candidate) -> None:
        """See Strategy."""
        share, stride = self._share_of(candidate), self._stride_of(candidate)
        first = self._order.first()
        if first is not None:
            self._raise_floor(self._seats[first])
        seat = self._seats.get(candidate.id)
        if seat is None:
            place = self._floor + int(self._rng.uniform(0, stride))
            seat = self._seats[candidate.id] = _Seat(stride, place, share, candidate.available)
        else:
            self._raise_floor(seat)
            if seat.stride != stride:
                seat.place = self._floor + (seat.place - self._floor) * stride // seat.stride
                seat.stride = stride
            seat.place = max(seat.place, self._floor)
            seat.share, seat.available = share, candidate.available
        self._settle(candidate.id, seat)

    def remove(self, worker_id: str) -> None:
        """See Strategy."""
        self._seats.pop(worker_id, None)
        self._order.discard(worker_id)

    def choose(self, avoid: Collection[str] = (), tasks: int = 1) -> str | None:
        """See Strategy."""
        chosen = self._order.first(avoid)
        if chosen is not None:
            seat = self._seats[chosen]
            seat.place += tasks * seat.stride
            self._order.put(chosen, (seat.share, seat.place))
        return chosen

    def undo(self, worker_id: str, tasks: int = 1) -> None:
        """See Strategy. A worker that was removed meanwhile is no error."""
        seat = self._seats.get(worker_id)
        if seat is not None:
            seat.place -= tasks * seat.stride
            self._settle(worker_id, seat)

    def _raise_floor(self, seat: _Seat) -> None:
        began = seat.place - seat.stride
        if began > self._floor:
            self._floor = began

    def _settle(self, worker_id: str, seat: _Seat) -> None:
        if seat.available:
            self._order.put(worker_id, (seat.share, seat.place))
        else:
            self._order.discard(worker_id)
