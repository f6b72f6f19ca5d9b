"""Plays a stream of tasks through a pool on a real server in virtual time. A task runs 1 ms per unit of cost."""

import heapq
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fairlane.config import TenantConfig
from fairlane.domain.policy import StopReason
from fairlane.domain.task import TaskRef
from fairlane.store.connection import Endpoint
from fairlane.store.messages import StartedTask, Submission, SubmitStatus
from tests.support.store_world import World, settlement

WORKER = "w1"
BATCH = 256
TICK_MS = 20
"""Costs and arrivals (ms) are multiples of this, so that a run has fewer moments to simulate."""
LONG_LEASE = 3_600_000

Arrival = tuple[int, Submission]
"""When the task is submitted, in ms from the beginning; and the task."""


@dataclass
class Run:
    """The results of a stream."""

    answers: Counter[tuple[str, SubmitStatus]] = field(default_factory=Counter)
    """The number of submits of each tenant with each status."""
    waits: dict[TaskRef, int] = field(default_factory=dict)
    """Time from arrival to start, in ms, of each task that started."""

    def of(self, *tenants: str) -> dict[TaskRef, int]:
        """Return the waits of these tenants' tasks."""
        return {ref: wait for ref, wait in self.waits.items() if ref.tenant in tenants}


def percentile(waits: Iterable[int], percent: int) -> int:
    """Return the shortest wait that ``percent`` of the waits do not exceed."""
    ordered = sorted(waits)
    return ordered[math.ceil(len(ordered) * percent / 100) - 1]


def together(*streams: Iterable[Arrival]) -> Iterator[Arrival]:
    """Merge streams, each in the order of its arrivals."""
    return heapq.merge(*streams, key=lambda arrival: arrival[0])


async def play(world: World, arrivals: Iterator[Arrival], for_ms: float = math.inf) -> Run:
    """Submit each task when it arrives and run every started task to its end, until none arrives or runs."""
    run = Run()
    began, cursor = world.now, (await world.pool_view()).fence
    never: tuple[float, None] = (math.inf, None)
    coming: Arrival | tuple[float, None] = next(arrivals, never)
    arrived: dict[TaskRef, int] = {}
    running: list[tuple[int, int, StartedTask]] = []
    while (at := min(coming[0], running[0][0] if running else math.inf)) <= for_ms and at < math.inf:
        world.now = began + int(at)
        over = []
        while running and running[0][0] <= at:
            over.append(heapq.heappop(running)[2])
        if over:
            await world.store.settle(WORKER, [settlement(each, actual=each.cost) for each in over])
        new = []
        while coming[1] is not None and coming[0] <= at:
            new.append(coming[1])
            coming = next(arrivals, never)
        for first in range(0, len(new), BATCH):
            batch = new[first : first + BATCH]
            for each, answer in zip(batch, await world.store.submit(batch, "c"), strict=True):
                run.answers[each.ref.tenant, answer.status] += 1
                if answer.status is SubmitStatus.ACCEPTED:
                    arrived[each.ref] = int(at)
        while (await world.dispatch(BATCH)).stop in {StopReason.BATCH, StopReason.VISITS}:
            pass
        for started in (await world.store.start(WORKER, cursor)).tasks:
            cursor = started.fence
            run.waits[started.ref] = int(at) - arrived[started.ref]
            heapq.heappush(running, (int(at) + started.cost, started.fence, started))
    return run


async def played(
    endpoint: Endpoint,
    name: str,
    arrivals: Iterable[Arrival],
    tenants: Mapping[str, TenantConfig],
    *,
    for_ms: float = math.inf,
    **pool: Any,
) -> Run:
    """Play a stream, in the order of its arrivals, through a new scheduler, which is erased afterwards."""
    world = World(endpoint, name)
    async with world.store as store:
        await world.pool(lease_ms=LONG_LEASE, **pool)
        await store.put_tenants(tenants)
        await world.worker(WORKER, slots=BATCH)
        try:
            return await play(world, together(arrivals), for_ms)
        finally:
            await forget(world)


async def forget(world: World) -> None:
    """Delete everything that this scheduler stored."""
    await world.store.erase()
