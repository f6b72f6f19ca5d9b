"""A priority queue whose members can be moved and taken out by name. Knows nothing of workers."""

from collections.abc import Collection
from heapq import heapify, heappop, heappush, heapreplace
from typing import Final

_Entry = tuple[float, int, str]

_SPARE: Final = 32


class AddressableHeap:
    """Names in the order of a share, then of a place; equal ones in the order of the names.

    What was moved or taken out stays behind in the heap until it comes up or outnumbers the rest, so that each
    operation costs O(log n), spread over many; and what is put back where it was before it came up costs nothing.
    """

    def __init__(self) -> None:
        self._heap: list[_Entry] = []
        self._entries: dict[str, _Entry] = {}
        """The latest of each name."""
        self._out: set[str] = set()
        """Names that are taken out, but still have an entry."""

    def put(self, name: str, share: float, place: int) -> None:
        """Take a name in, or move it."""
        heap = self._heap
        if self._out:
            self._out.discard(name)
        old = self._entries.get(name)
        if old is not None and old[1] == place and old[0] == share:
            return
        entry = self._entries[name] = (share, place, name)
        if heap and heap[0] is old:
            heapreplace(heap, entry)
            return
        heappush(heap, entry)
        if len(heap) > 2 * len(self._entries) + _SPARE:
            self._compact()

    def discard(self, name: str) -> None:
        """Take a name out, if it is in."""
        if name in self._entries:
            self._out.add(name)

    def first(self, avoid: Collection[str] = ()) -> str | None:
        """Return the first name but for some; None if there is none."""
        heap = self._heap
        aside = []
        first = None
        while heap:
            entry = heap[0]
            name = entry[2]
            if self._entries.get(name) is not entry:
                heappop(heap)
            elif name in self._out:
                self._out.discard(name)
                del self._entries[name]
                heappop(heap)
            elif name in avoid:
                aside.append(heappop(heap))
            else:
                first = name
                break
        for entry in aside:
            heappush(heap, entry)
        return first

    def _compact(self) -> None:
        for name in self._out:
            del self._entries[name]
        self._out.clear()
        self._heap = list(self._entries.values())
        heapify(self._heap)
