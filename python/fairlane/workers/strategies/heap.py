"""An addressable heap: a priority queue whose entries can be moved and removed by name. Knows nothing of workers."""

from collections.abc import Collection
from heapq import heapify, heappop, heappush, heapreplace
from typing import Final

_Entry = tuple[float, int, str]

_SPARE: Final = 32


class AddressableHeap:
    """Names ordered by key, then by tie-break, then by name.

    Deletion is lazy: stale entries stay in the heap until they reach the top or outnumber the live ones, so each
    operation costs amortised O(log n). Putting a removed name back under its old key, before its entry reached the
    top, costs nothing.
    """

    def __init__(self) -> None:
        self._heap: list[_Entry] = []
        self._entries: dict[str, _Entry] = {}
        """The latest entry of each name."""
        self._removed: set[str] = set()
        """Removed names that still have an entry."""

    def put(self, name: str, key: float, tie_break: int) -> None:
        """Add a name, or move it."""
        heap = self._heap
        if self._removed:
            self._removed.discard(name)
        old = self._entries.get(name)
        if old is not None and old[1] == tie_break and old[0] == key:
            return
        entry = self._entries[name] = (key, tie_break, name)
        if heap and heap[0] is old:
            heapreplace(heap, entry)
            return
        heappush(heap, entry)
        if len(heap) > 2 * len(self._entries) + _SPARE:
            self._compact()

    def discard(self, name: str) -> None:
        """Remove a name if it is present."""
        if name in self._entries:
            self._removed.add(name)

    def first(self, avoid: Collection[str] = ()) -> str | None:
        """Return the first name that is not in ``avoid``; None if there is none."""
        heap = self._heap
        skipped = []
        first = None
        while heap:
            entry = heap[0]
            name = entry[2]
            if self._entries.get(name) is not entry:
                heappop(heap)
            elif name in self._removed:
                self._removed.discard(name)
                del self._entries[name]
                heappop(heap)
            elif name in avoid:
                skipped.append(heappop(heap))
            else:
                first = name
                break
        for entry in skipped:
            heappush(heap, entry)
        return first

    def _compact(self) -> None:
        for name in self._removed:
            del self._entries[name]
        self._removed.clear()
        self._heap = list(self._entries.values())
        heapify(self._heap)
