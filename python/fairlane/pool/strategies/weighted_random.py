"""A random worker, in proportion to the weights."""

from collections.abc import Collection
from typing import Final

from fairlane.clock import Rng
from fairlane.pool.strategies.base import Candidate


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
        """Return a name by weight, after two tries on average at most."""
        while True:
            at, height = divmod(rng.uniform(0, len(self._names) * self.size), self.size)
            if at < len(self._names) and height < self._weights[int(at)]:
                return self._names[int(at)]


class WeightedRandom:
    """See Strategy. A choice takes as long with many workers as with few; it has no turns to take back."""

    def __init__(self, rng: Rng) -> None:
        self._rng = rng
        self._classes: dict[int, _Class] = {}
        self._weights: dict[str, int] = {}
        """Of the workers that are available."""

    def put(self, candidate: Candidate) -> None:
        """See Strategy."""
        weight = candidate.weight if candidate.available else 0
        if weight != self._weights.get(candidate.id, 0):
            self.remove(candidate.id)
            if weight:
                self._add(candidate.id, weight)

    def remove(self, worker_id: str) -> None:
        """See Strategy."""
        weight = self._weights.pop(worker_id, 0)
        if weight:
            self._classes[weight.bit_length()].take_out(worker_id)

    def choose(self, avoid: Collection[str] = (), tasks: int = 1) -> str | None:
        """See Strategy."""
        aside = {name: self._weights[name] for name in avoid if name in self._weights}
        for name in aside:
            self.remove(name)
        chosen = self._draw()
        for name, weight in aside.items():
            self._add(name, weight)
        return chosen

    def undo(self, worker_id: str, tasks: int = 1) -> None:
        """See Strategy."""

    def _add(self, name: str, weight: int) -> None:
        self._weights[name] = weight
        length = weight.bit_length()
        if length not in self._classes:
            self._classes[length] = _Class(2**length)
        self._classes[length].add(name, weight)

    def _draw(self) -> str | None:
        """Draw a class by its total, of which there are few, then a name in it."""
        filled = [each for each in self._classes.values() if each.total]
        if not filled:
            return None
        point = self._rng.uniform(0, sum(each.total for each in filled))
        for each in filled:
            point -= each.total
            if point < 0:
                return each.draw(self._rng)
        return filled[-1].draw(self._rng)
