"""A random worker, in proportion to the weights."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from fairlane.clock import Rng
from fairlane.workers.strategies.base import Candidate

_TRIES: Final = 64
"""Draws of a name before the names are gone through; chance alone needs more once in 2^64 times."""


class _Class:
    """Names whose weights lie within a factor of two, so that a random one can be kept or drawn anew by its weight."""

    def __init__(self, size: int) -> None:
        self.size: Final = size
        """Above every weight, and at most twice each."""
        self.total = 0
        self._names: list[str] = []
        self._weights: list[int] = []
        self._at: dict[str, int] = {}

    def add(self, name: str, weight: int) -> None:
        self._at[name] = len(self._names)
        self._names.append(name)
        self._weights.append(weight)
        self.total += weight

    def take_out(self, name: str) -> None:
        """Take a name out; the last one takes its place."""
        at = self._at.pop(name)
        self.total -= self._weights[at]
        last, weight = self._names.pop(), self._weights.pop()
        if last != name:
            self._names[at], self._weights[at] = last, weight
            self._at[last] = at

    def draw(self, rng: Rng) -> str:
        """Return a name by weight, after two tries on average at most; a source that never hits ends that, too."""
        for _ in range(_TRIES):
            at, height = divmod(rng.uniform(0, len(self._names) * self.size), self.size)
            if at < len(self._names) and height < self._weights[int(at)]:
                return self._names[int(at)]
        return self._names[_by_weight(self._weights, rng)]


@dataclass(slots=True)
class _Seat:
    free: int = 0
    """Slots; none unless it is ready."""
    weight: int = 0
    entered: int = 0
    """The weight it can be drawn by; 0: it cannot be drawn."""


class WeightedRandom:
    """See Strategy. A choice takes as long among many workers as among few."""

    def __init__(self, rng: Rng) -> None:
        self._rng = rng
        self._seats: dict[str, _Seat] = {}
        self._classes: dict[int, _Class] = {}
        """By the number of bits of a weight, so that there are few."""

    def put(self, candidate: Candidate) -> None:
        """See Strategy."""
        seat = self._seats.setdefault(candidate.id, _Seat())
        seat.free = candidate.capacity - candidate.load if candidate.ready else 0
        seat.weight = candidate.weight
        self._settle(candidate.id, seat)

    def remove(self, worker_id: str) -> None:
        """See Strategy."""
        seat = self._seats.pop(worker_id, None)
        if seat is not None:
            self._enter(worker_id, seat, 0)

    def choose(self, avoid: Collection[str] = (), tasks: int = 1) -> str | None:
        """See Strategy."""
        aside = {name: self._seats[name] for name in avoid if name in self._seats}
        for name, seat in aside.items():
            self._enter(name, seat, 0)
        chosen = self._draw()
        for name, seat in aside.items():
            self._settle(name, seat)
        if chosen is not None:
            self.undo(chosen, -tasks)
        return chosen

    def undo(self, worker_id: str, tasks: int = 1) -> None:
        """See Strategy."""
        seat = self._seats.get(worker_id)
        if seat is not None:
            seat.free += tasks
            self._settle(worker_id, seat)

    def _settle(self, name: str, seat: _Seat) -> None:
        self._enter(name, seat, seat.weight if seat.free > 0 else 0)

    def _enter(self, name: str, seat: _Seat, weight: int) -> None:
        if weight == seat.entered:
            return
        if seat.entered:
            self._classes[seat.entered.bit_length()].take_out(name)
        seat.entered = weight
        if weight:
            bits = weight.bit_length()
            if bits not in self._classes:
                self._classes[bits] = _Class(2**bits)
            self._classes[bits].add(name, weight)

    def _draw(self) -> str | None:
        """Draw a class by its total, then a name in it."""
        filled = [each for each in self._classes.values() if each.total]
        if not filled:
            return None
        return filled[_by_weight([each.total for each in filled], self._rng)].draw(self._rng)


def _by_weight(weights: Sequence[int], rng: Rng) -> int:
    """Draw a place by the weights there."""
    point = rng.uniform(0, sum(weights))
    for place, weight in enumerate(weights):
        point -= weight
        if point < 0:
            return place
    return len(weights) - 1
