"""One way to run tasks on the reference scheduler and on a real store, for tests of who gets how much."""

from collections import Counter
from typing import Protocol

from fairlane._core import Scheduler
from fairlane.domain.events import EnqueuedRow
from fairlane.store.connection import Endpoint
from fairlane.store.messages import StartedTask
from tests.support.store_world import World, settlement, task
from tests.support.world_model import tenant_id

BATCH = 64


class Pool(Protocol):
    """Tenants are numbers, and their names sort like them."""

    order: list[int]
    """The tenant of each task handed out, in order."""
    ended: Counter[int]
    """How many tasks of each tenant have ended."""

    async def begin(self, weights: list[int], slots: int, quantum: int) -> None:
        """Set the pool up; at most 64 slots."""

    async def submit(self, tenants: list[int], cost: int) -> None:
        """Queue one task of this estimated cost for each of the tenants."""

    async def place(self) -> None:
        """Hand out the tasks that fit."""

    async def end(self, actual: int, places: list[int] | None = None) -> None:
        """End the running tasks at these places, oldest first, or all, each at this actual cost."""

    def running(self) -> list[int]:
        """Return the tenants of the running tasks, oldest first."""


class ReferencePool:
    """The reference scheduler."""

    def __init__(self) -> None:
        self.order: list[int] = []
        self.ended: Counter[int] = Counter()
        self._running: list[tuple[int, int]] = []
        self._count = 0

    async def begin(self, weights: list[int], slots: int, quantum: int) -> None:
        self._scheduler = Scheduler(quantum, slots)
        for tenant, weight in enumerate(weights):
            self._scheduler.put_tenant(tenant, weight)

    async def submit(self, tenants: list[int], cost: int) -> None:
        for tenant in tenants:
            self._scheduler.submit(tenant, self._count, cost)
            self._count += 1

    async def place(self) -> None:
        for tenant, number, *_ in self._scheduler.dispatch(BATCH, BATCH)[0]:
            self._running.append((tenant, number))
            self.order.append(tenant)

    async def end(self, actual: int, places: list[int] | None = None) -> None:
        ends = [self._running[place] for place in places] if places is not None else list(self._running)
        for tenant, number in ends:
            self._scheduler.settle(number, actual)
            self._running.remove((tenant, number))
            self.ended[tenant] += 1

    def running(self) -> list[int]:
        return [tenant for tenant, _ in self._running]


class StorePool:
    """A scheduler on a real server with one worker."""

    def __init__(self, endpoint: Endpoint, name: str) -> None:
        self.order: list[int] = []
        self.ended: Counter[int] = Counter()
        self.world = World(endpoint, name)
        self._running: list[StartedTask] = []
        self._count = 0

    async def begin(self, weights: list[int], slots: int, quantum: int) -> None:
        await self.world.pool(slots=slots, quantum_units=quantum)
        for tenant, weight in enumerate(weights):
            await self.world.tenant(tenant_id(tenant), weight=weight)
        await self.world.worker(slots=BATCH)

    async def submit(self, tenants: list[int], cost: int) -> None:
        numbered = enumerate(tenants, self._count)
        await self.world.submit(*(task(f"t{n}", cost, tenant=tenant_id(tenant)) for n, tenant in numbered))
        self._count += len(tenants)

    async def place(self) -> None:
        if (await self.world.dispatch(BATCH)).placed:
            started = await self.world.start(cursor=max((each.fence for each in self._running), default=0))
            self._running += started
            self.order += [_number(each) for each in started]

    async def end(self, actual: int, places: list[int] | None = None) -> None:
        ends = [self._running[place] for place in places] if places is not None else list(self._running)
        if ends:
            await self.world.store.settle("w1", [settlement(each, actual=actual) for each in ends])
        for each in ends:
            self._running.remove(each)
            self.ended[_number(each)] += 1

    def running(self) -> list[int]:
        return [_number(each) for each in self._running]

    async def decisions(self) -> list[tuple[int, str, int, int]]:
        """Return tenant, task, fence and charge of every task handed out, from the events."""
        rows = await self.world.rows("enqueued")
        return [(int(row.tenant[1:]), row.task, row.fence, row.charge) for row in rows if isinstance(row, EnqueuedRow)]


def _number(each: StartedTask) -> int:
    return int(each.ref.tenant[1:])
