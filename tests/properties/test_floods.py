"""Huge estimates in flight, and then a flood of small tasks: the other tenant keeps its half."""

from collections import Counter
from itertools import pairwise

import pytest

from tests.support.share_pools import Pool, ReferencePool

COST = 100
HONEST, CHEATER = 0, 1


class Flood:
    """Two tenants of equal weight. Every task costs 100, whatever its estimate; in each turn one task ends."""

    def __init__(self, pool: Pool, slots: int) -> None:
        self.pool, self.slots = pool, slots
        self._submitted: Counter[int] = Counter()

    async def submit(self, tenant: int, count: int, estimate: int = COST) -> None:
        self._submitted[tenant] += count
        await self.pool.submit([tenant] * count, estimate)

    async def turn(self, place: int, *tenants: int) -> None:
        """End the task at this place; these tenants then have as many tasks waiting as there are slots."""
        await self.pool.end(COST, [place])
        for tenant in tenants:
            waiting = self._submitted[tenant] - self.pool.order.count(tenant)
            if waiting < self.slots:
                await self.submit(tenant, 2 * self.slots - waiting)
        await self.pool.place()


def longest_wait(order: list[int]) -> int:
    """Return the largest number of tasks that were handed out between two of the honest tenant, or at either end."""
    places = [-1, *(place for place, tenant in enumerate(order) if tenant == HONEST), len(order)]
    return max(after - before - 1 for before, after in pairwise(places))


def scaled(pool: Pool, slots: int) -> tuple[int, int]:
    """Return slots and turns: a long run on the reference, a shorter one with fewer slots on a store."""
    return (slots, 100 * slots) if isinstance(pool, ReferencePool) else (min(slots, 8), 40 * min(slots, 8))


CASES = pytest.mark.parametrize(("slots", "factor"), [(1, 10**6), (4, 10), (32, 10**6)])


@CASES
async def test_filling_an_idle_pool_with_huge_estimates_does_not_pay(pool: Pool, slots: int, factor: int) -> None:
    """The cheater is alone at first and fills every slot; as many of its huge tasks wait when the honest tenant comes.

    From then on the honest tenant gets at least half of the tasks that end, less 1 %. Its longest wait is three times
    the length of a task, in which as many tasks are handed out as there are slots.
    """
    slots, turns = scaled(pool, slots)
    await pool.begin([1, 1], slots, quantum=COST)
    flood = Flood(pool, slots)
    await flood.submit(CHEATER, 2 * slots, COST * factor)
    await pool.place()
    await flood.submit(HONEST, 2 * slots)
    for _ in range(turns):
        await flood.turn(0, HONEST, CHEATER)
    assert pool.ended[HONEST] >= 0.99 * pool.ended.total() / 2, pool.ended
    assert longest_wait(pool.order[slots:]) <= 3 * slots


@CASES
async def test_huge_estimates_in_flight_for_long_do_not_pay(pool: Pool, slots: int, factor: int) -> None:
    """Both tenants are always backlogged. One huge task runs during the first half; the rest of the run is a flood.

    The cheater then catches up on the service that it did not get, and not on more. While it does, the honest tenant
    waits for a bounded number of tasks. The cheater may begin a quantum and four costs below the pool's virtual time,
    the honest tenant as far above it as it has in flight, and each task of the cheater pays an eighth of its charge.
    """
    slots, turns = scaled(pool, slots)
    await pool.begin([1, 1], slots + 1, quantum=COST)
    flood = Flood(pool, slots)
    await flood.submit(CHEATER, 1, COST * factor)
    await flood.submit(HONEST, 2 * slots)
    await pool.place()
    assert pool.running()[0] == CHEATER
    for _ in range(turns // 2):
        await flood.turn(1, HONEST, CHEATER)
    assert factor == 10 or pool.ended[CHEATER] == 0
    await flood.turn(0, HONEST, CHEATER)
    for _ in range(turns):
        await flood.turn(0, HONEST, CHEATER)
    assert pool.ended[HONEST] >= 0.99 * pool.ended.total() / 2, pool.ended
    assert longest_wait(pool.order) <= 8 * (1 + 4 + slots + 1)
