"""A random worker, with probability in proportion to its weight."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from fairlane.clock import Rng
from fairlane.workers.strategies.base import Candidate

_MAX_REJECTIONS: Final = 64
"""Rejected draws before a linear scan; chance alone reaches this once in 2^64 draws."""


class _Bucket:
    """Names whose weights differ by less than a factor of two: rejection sampling needs two draws on average."""

    def __init__(self, size: int) -> None:
        self.size: Final = size
        """Above every weight, and at most twice each."""
        self.total = 0
        self._names: list[str] = []
        self._weights: list[int] = []
        self._index: dict[str, int] = {}

    def add(self, name: str, weight: int) -> None:
        self._index[name] = len(self._names)
        self._names.append(name)
        self._weights.append(weight)
        self.total += weight

    def remove(self, name: str) -> None:
        """Remove a name; the last one moves into its index."""
        index = self._index.pop(name)
        self.total -= self._weights[index]
        last, weight = self._names.pop(), self._weights.pop()
        if last != name:
            self._names[index], self._weights[index] = last, weight
            self._index[last] = index

    def draw(self, rng: Rng) -> str:
        """Return a name by weight. Ends even if ``rng`` never yields an accepted draw."""
        for _ in range(_MAX_REJECTIONS):
            index, height = divmod(rng.uniform(0, len(self._names) * self.size), self.size)
            if index < len(self._names) and height < self._weights[int(index)]:
                return self._names[int(index)]
        return self._names[_weighted_index(self._weights, rng)]


@dataclass(slots=True)
class _Entry:
    free: int = 0
    """Free slots; 0 unless the worker is ready."""
    weight: int = 0
    drawn_weight: int = 0
    """The weight in its bucket; 0 while it cannot be drawn."""


class WeightedRandom:
    """See Strategy. The time of a choice does not depend on the number of workers."""

    def __init__(self, rng: Rng) -> None:
        self._rng = rng
        self._entries: dict[str, _Entry] = {}
        self._buckets: dict[int, _Bucket] = {}
        """By the bit length of the weight, so that there are few."""

    def put(self, candidate: Candidate) -> None:
        """See Strategy."""
        entry = self._entries.setdefault(candidate.id, _Entry())
        entry.free = candidate.capacity - candidate.load if candidate.ready else 0
        entry.weight = candidate.weight
        self._refresh(candidate.id, entry)

    def remove(self, worker_id: str) -> None:
        """See Strategy."""
        entry = self._entries.pop(worker_id, None)
        if entry is not None:
            self._set_drawn_weight(worker_id, entry, 0)

    def choose(self, avoid: Collection[str] = (), tasks: int = 1) -> str | None:
        """See Strategy."""
        avoided = {name: self._entries[name] for name in avoid if name in self._entries}
        for name, entry in avoided.items():
            self._set_drawn_weight(name, entry, 0)
        chosen = self._draw()
        for name, entry in avoided.items():
            self._refresh(name, entry)
        if chosen is not None:
            self.undo(chosen, -tasks)
        return chosen

    def undo(self, worker_id: str, tasks: int = 1) -> None:
        """See Strategy."""
        entry = self._entries.get(worker_id)
        if entry is not None:
            entry.free += tasks
            self._refresh(worker_id, entry)

    def _refresh(self, name: str, entry: _Entry) -> None:
        self._set_drawn_weight(name, entry, entry.weight if entry.free > 0 else 0)

    def _set_drawn_weight(self, name: str, entry: _Entry, weight: int) -> None:
        if weight == entry.drawn_weight:
            return
        if entry.drawn_weight:
            self._buckets[entry.drawn_weight.bit_length()].remove(name)
        entry.drawn_weight = weight
        if weight:
            bits = weight.bit_length()
            if bits not in self._buckets:
                self._buckets[bits] = _Bucket(2**bits)
            self._buckets[bits].add(name, weight)

    def _draw(self) -> str | None:
        """Draw a bucket by its total weight, then a name in it."""
        filled = [bucket for bucket in self._buckets.values() if bucket.total]
        if not filled:
            return None
        return filled[_weighted_index([bucket.total for bucket in filled], self._rng)].draw(self._rng)


def _weighted_index(weights: Sequence[int], rng: Rng) -> int:
    """Return a random index with probability in proportion to the weight there."""
    point = rng.uniform(0, sum(weights))
    for index, weight in enumerate(weights):
        point -= weight
        if point < 0:
            return index
    return len(weights) - 1
