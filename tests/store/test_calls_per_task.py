"""What one task costs the server over its whole life, in commands that scripts run, whatever the number of tenants."""

import re

import pytest

from fairlane.config import TenantConfig
from tests.support.store_world import World, settlement, task

BATCH = 64
TASKS = 20 * BATCH
MOST = 25.0


async def calls(world: World) -> dict[str, int]:
    """Commands the server has run so far, by name; those of clients are counted too."""
    info = await world.store.info("commandstats")
    return {name: int(re.search(r"calls=(\d+)", value)[1]) for name, value in info.items()}  # type: ignore[index]


@pytest.mark.parametrize("tenants", [3, 100, 10_000])
async def test_a_task_s_whole_life_takes_at_most_25_calls(world: World, tenants: int) -> None:
    await world.pool(slots=BATCH)
    names = [f"n{number:05}" for number in range(tenants)]
    await world.store.put_tenants({name: TenantConfig() for name in names})
    await world.worker("w1", slots=BATCH)
    before = await calls(world)
    # Spread like a shuffled stream of customers: neighbours in time are strangers.
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
    position = 0
    while collected < TASKS:
        page = await world.store.collect("c", position, BATCH)
        collected, position = collected + len(page.tasks), page.cursor
    after = await calls(world)
    own = {"cmdstat_evalsha", "cmdstat_info", "cmdstat_script|load"}
    total = sum(after[name] - before.get(name, 0) for name in after if name not in own)
    assert TASKS < total <= MOST * TASKS
    assert (await world.pool_view()).events > 0
