"""Pool strategies: in which order workers are offered to the next tasks.

A strategy only proposes. The store places each task with the first worker of the plan that still has a free slot,
and may place fewer tasks than the plan offers: so a plan interleaves the workers instead of filling one after the
other.
"""

from collections.abc import Mapping
from heapq import heapify, heapreplace
from typing import Protocol

Free = Mapping[str, tuple[int, int]]
"""Incarnation to (slots, free slots), as last known."""
Plan = list[tuple[str, int]]
"""Incarnation and how many tasks it is offered, in order; an incarnation may appear again."""


class Strategy(Protocol):
    """Chooses workers."""

    def plan(self, free: Free, limit: int) -> Plan:
        """Offer at most ``limit`` places, and to no worker more than it has free."""
        ...


class LeastBusy:
    """The worker with the smallest share of busy slots first."""

    def plan(self, free: Free, limit: int) -> Plan:
        """See Strategy. Shares grow with what has been planned, so that few and many tasks are spread alike."""
        heap = [((slots - left) / slots, name, slots, left) for name, (slots, left) in free.items() if left > 0]
        if not heap or limit < 1:
            return []
        if len(heap) == 1:
            return [(heap[0][1], min(limit, heap[0][3]))]
        heapify(heap)
        plan: Plan = []
        planned = 0
        while planned < limit and heap[0][3] > 0:
            _, name, slots, left = heap[0]
            count = min(left, limit - planned, _chunk(planned, len(heap)))
            plan.append((name, count))
            planned += count
            left -= count
            heapreplace(heap, ((slots - left) / slots if left else 2.0, name, slots, left))
        return plan


class RoundRobin:
    """One worker after the other; each plan begins with the next one."""

    def __init__(self) -> None:
        self._turn = 0

    def plan(self, free: Free, limit: int) -> Plan:
        """See Strategy."""
        left = {name: count for name, (_, count) in sorted(free.items()) if count > 0}
        names = list(left)
        if not names:
            return []
        first = self._turn % len(names)
        self._turn += 1
        names = names[first:] + names[:first]
        plan: Plan = []
        planned = 0
        while planned < limit and names:
            chunk = _chunk(planned, len(names))
            for name in names:
                count = min(left[name], chunk, limit - planned)
                if count:
                    plan.append((name, count))
                    planned += count
                    left[name] -= count
            names = [name for name in names if left[name] > 0]
        return plan


def _chunk(planned: int, workers: int) -> int:
    """Grow chunks with what is planned: short plans, and never more than a small part ahead of the others."""
    return max(1, planned // (4 * workers))
