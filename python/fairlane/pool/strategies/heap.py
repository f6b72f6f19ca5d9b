"""A priority queue whose members can be moved and taken out by name. Knows nothing of workers."""

from collections.abc import Collection
from heapq import heapify, heappop, heappush, heapreplace
from typing import Final, Generic, TypeVar

Key = TypeVar("Key", bound=tuple[float, ...])

_SPARE: Final = 32


class AddressableHeap(Generic[Key]):
    """Names in the order of their keys; equal keys in the order of the names.

    What was moved or taken out stays behind in the heap until it comes up or outnumbers the rest, so that each
    operation costs O(log n), spread over many.
    """

    def __init__(self) -> None:
        self._entries: dict[str, tuple[Key, str]] = {}
        self._heap: list[tuple[Key, str]] = []

    def put(self, name: str, key: Key) -> None:
        """Take a name in, or move it."""
        heap = self._heap
        old = self._entries.get(name)
        if old is not None and old[0] == key:
            return
        entry = self._entries[name] = (key, name)
        if heap and heap[0] is old:
            heapreplace(heap, entry)
            return
        heappush(heap, entry)
        if len(heap) > 2 * len(self._entries) + _SPARE:
            self._compact()

    def discard(self, name: str) -> None:
        """Take a name out, if it is in."""
        self._entries.pop(name, None)

    def first(self, avoid: Collection[str] = ()) -> str | None:
        """Return the name with the smallest key but for some; None if there is none."""
        heap = self._heap
        aside = []
        while heap:
            entry = heap[0]
            if self._entries.get(entry[1]) is not entry:
                heappop(heap)
            elif entry[1] in avoid:
                aside.append(heappop(heap))
            else:
                break
        first = heap[0][1] if heap else None
        for entry in aside:
            heappush(heap, entry)
        return first

    def _compact(self) -> None:
        self._heap = list(self._entries.values())
        heapify(self._heap)
