"""Random histories of windows that are switched on and off and change their limits and intervals, against an oracle.

Tasks are offered one by one. Whenever a task is placed, no window holds more than its limit; whenever one waits, some
window is full. This is exact for all intervals, except that a lengthened window need not remember stamps that had left.
"""

import random

import pytest

from fairlane.audit import check_invariants
from fairlane.config import WindowConfig
from fairlane.domain.task import TaskRef
from fairlane.store.connection import Endpoint
from tests.support.oracle_windows import KINDS, NaiveWindows
from tests.support.store_windows import LONG_LEASE, stamps
from tests.support.store_world import START_MS, World, task

STEPS = 400
RUNS = 8
INTERVALS = {"equal": (500,), "different": (120, 500), "many": (1, 60, 120, 500)}


class History:
    """One random run of one tenant and its pool."""

    def __init__(self, world: World, rng: random.Random, intervals: tuple[int, ...]) -> None:
        self.world, self.rng, self.intervals = world, rng, intervals
        self.oracle = NaiveWindows(("a", "*"))
        self.configs: dict[str, dict[str, WindowConfig | None]] = {
            owner: dict.fromkeys(KINDS) for owner in self.oracle.owners
        }
        self.waiting: list[tuple[str, int]] = []
        self.enqueued: list[tuple[TaskRef, int]] = []
        self.submitted = self.fences = self.placed = self.cursor = 0

    async def configure(self, owner: str) -> None:
        for kind in KINDS:
            if self.rng.random() < 0.6:
                limit = self.rng.choice([1, 3, 8] if kind == "starts" else [40, 90, 200])
                window = WindowConfig(limit=limit, interval_ms=self.rng.choice(self.intervals))
                self.configs[owner][kind] = self.rng.choice([None, window, window])
        if owner == "*":
            await self.world.pool(lease_ms=LONG_LEASE, slots=10**4, **self.configs[owner])
        else:
            await self.world.tenant(owner, **self.configs[owner])
        self.oracle.configure(owner, self.configs[owner], self.world.now)

    async def offer(self) -> None:
        if not self.waiting:
            self.submitted += 1
            self.waiting.append((f"t{self.submitted}", self.rng.choice([0, 1, 7, 40]) or 1))
            await self.world.submit(task(*self.waiting[0]))
        name, cost = self.waiting[0]
        if (await self.world.dispatch(1)).placed:
            self.fences += 1
            self.placed += 1
            self.oracle.placed(self.fences, cost, self.world.now)
            self.enqueued.append((TaskRef("a", name), self.fences))
            self.waiting.pop()
        else:
            self.oracle.refused(cost, self.world.now)

    async def start(self) -> None:
        started = (await self.world.store.start("w1", self.cursor, self.rng.choice([1, 4]))).tasks
        for each in started:
            self.oracle.started(each.fence, self.world.now)
            self.cursor = each.fence
            self.enqueued.remove((each.ref, each.fence))
            await self.world.settle(each, actual=0)

    async def cancel(self) -> None:
        if self.enqueued:
            ref, fence = self.enqueued.pop(self.rng.randrange(len(self.enqueued)))
            await self.world.store.cancel([ref])
            self.oracle.returned(fence)

    async def step(self) -> None:
        match self.rng.choices(["offer", "start", "time", "cancel", "tenant", "pool"], [40, 25, 25, 3, 4, 3])[0]:
            case "offer":
                await self.offer()
            case "start":
                await self.start()
            case "cancel":
                await self.cancel()
            case "time":
                self.world.now += self.rng.choice([1, 1, 30, 59, 60, 119, 120, 499, 500])
            case "tenant":
                await self.configure("a")
            case _:
                await self.configure("*")


@pytest.mark.parametrize("intervals", INTERVALS)
@pytest.mark.parametrize("run", range(RUNS))
async def test_windows_are_exact_through_all_changes(
    endpoint: Endpoint, name: str, seed: int, run: int, intervals: str
) -> None:
    print(f"seed {seed}, run {run}")
    world = World(endpoint, name, now=START_MS)
    async with world.store:
        history = History(world, random.Random(seed * 1000 + run), INTERVALS[intervals])
        await history.configure("*")
        await history.configure("a")
        await world.worker("w1", slots=10**4)
        for number in range(STEPS):
            await history.step()
            if number % 40 == 39:
                assert await check_invariants(world.store) == [], number
        assert history.placed > 10
        assert len(await stamps(world)) + len(await stamps(world, "*")) < history.placed
        await world.store.erase()
