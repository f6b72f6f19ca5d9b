"""The cost of a task and of a decision, in commands that scripts run, for any number of tenants."""

import re
from collections import Counter

import pytest

from fairlane.config import TenantConfig
from fairlane.store.connection import Endpoint
from fairlane.store.prelude import VISIT_LIMIT
from tests.support.store_runs import forget
from tests.support.store_windows import window
from tests.support.store_world import World, budget, settlement, task

BATCH = 64
TASKS = 20 * BATCH
MOST = 8.0


async def calls(world: World) -> dict[str, int]:
    """Commands that the server has run so far, by name; clients' commands are counted too."""
    info = await world.store.info("commandstats")
    return {name: int(re.search(r"calls=(\d+)", value)[1]) for name, value in info.items()}  # type: ignore[index]


@pytest.mark.parametrize("tenants", [3, 100, 10_000])
async def test_a_task_s_whole_life_takes_at_most_8_calls(world: World, tenants: int) -> None:
    await world.pool(slots=BATCH)
    names = [f"n{number:05}" for number in range(tenants)]
    await world.store.put_tenants({name: TenantConfig() for name in names})
    await world.worker("w1", slots=BATCH)
    before = await calls(world)
    # Shuffled, so that consecutive tasks belong to different tenants.
    submissions = [task(f"t{number}", tenant=names[number * 7919 % tenants]) for number in range(TASKS)]
    for first in range(0, TASKS, BATCH):
        await world.submit(*submissions[first : first + BATCH])
    cursor, done = 0, 0
    while done < TASKS:
        await world.dispatch(BATCH)
        started = await world.store.start("w1", cursor, BATCH)
        await world.store.settle("w1", [settlement(each) for each in started.tasks])
        cursor = max(each.fence for each in started.tasks)
        done += len(started.tasks)
    collected = 0
    position = "0"
    while collected < TASKS:
        page = await world.store.collect("c", position)
        collected, position = collected + len(page.tasks), page.cursor
    after = await calls(world)
    own = {"cmdstat_fcall", "cmdstat_info", "cmdstat_function|load"}
    total = sum(after[name] - before.get(name, 0) for name in after if name not in own)
    assert TASKS < total <= MOST * TASKS
    assert (await world.pool_view()).events > 0


LONG_MS = 10**7
BLOCKED_BY = [
    {"slots": 1},
    {"cost_ceiling_units": 100},
    {"budget": budget(100)},
    {"starts": window(1, LONG_MS)},
    {"spend": window(100, LONG_MS)},
]


async def decisions(endpoint: Endpoint, name: str, blocked: int) -> list[Counter[str]]:
    """Commands that each of 19 dispatches runs for ten tenants with work, beside ``blocked`` ones at their limits."""
    world = World(endpoint, name)
    async with world.store as store:
        await world.pool(slots=2 * blocked + 1000, quantum_units=100, lease_ms=3_600_000)
        crowd = {f"n{number:04}": TenantConfig.model_validate(BLOCKED_BY[number % 5]) for number in range(blocked)}
        ready = [f"ready{number}" for number in range(10)]
        await store.put_tenants(crowd | dict.fromkeys(ready, TenantConfig()))
        await world.worker(slots=blocked + 1000)
        try:
            await world.submit(*(task(each, tenant=tenant) for tenant in crowd for each in ("runs", "waits")))
            for _ in range(1 + 3 * blocked // VISIT_LIMIT):
                await world.dispatch(256)
            assert len(await world.rows("parked")) == blocked
            await world.submit(*(task(f"t{number:02}", tenant=tenant) for tenant in ready for number in range(20)))
            await world.dispatch(10)  # rings the worker's bell; later calls find it already rung
            found = []
            for _ in range(19):
                before = Counter(await calls(world))
                assert (await world.dispatch(10)).placed == 10
                found.append(Counter(await calls(world)) - before)
            return found
        finally:
            await forget(world)


async def test_a_decision_among_10_000_tenants_of_whom_9_990_are_blocked_takes_the_calls_of_one_among_10(
    endpoint: Endpoint, name: str
) -> None:
    alone, beside = [await decisions(endpoint, f"{name}-{blocked}", blocked) for blocked in (0, 9_990)]
    assert beside == alone
    assert all(each["cmdstat_fcall"] == 1 for each in alone)
