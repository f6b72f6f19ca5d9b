"""A busy worker's turn: it settles, takes what it was handed, and serves itself as many tasks as it has ended."""

import pytest

from fairlane.audit import check_invariants
from fairlane.domain.events import kind_of
from fairlane.domain.task import TaskState
from fairlane.store.keys import DISPATCHER_BELL
from fairlane.store.messages import Write
from tests.support.store_dump import unchanged
from tests.support.store_raw import command
from tests.support.store_windows import window
from tests.support.store_world import World, settlement, task, tasks

LEASE_MS = 1000


async def test_it_takes_as_many_tasks_as_it_has_ended_and_the_same_ones_when_repeated(world: World) -> None:
    await world.ready()
    first, second, third = await world.active(*tasks(3))
    await world.submit(*tasks(10, first=3))
    ends = [settlement(first), settlement(second)]
    writes, started = await world.store.settle_and_start("w1", ends, third.fence)
    assert (writes, [each.fence for each in started.tasks]) == ([Write.DONE] * 2, [4, 5])
    async with unchanged(world.store, clock=True):
        writes, again = await world.store.settle_and_start("w1", ends, third.fence)
    assert (writes, again.tasks) == ([Write.REPEATED] * 2, started.tasks)
    last = (await world.events())[-1]
    assert [kind_of(row) for row in last.rows] == ["completed"] * 2 + ["enqueued"] * 2 + ["active"] * 2


async def test_it_takes_first_what_the_dispatcher_gave_it(world: World) -> None:
    await world.ready()
    (first,) = await world.active(task("first"))
    await world.submit(*tasks(3))
    await world.dispatch(1)
    await world.submit(task("urgent", priority=0))
    _, started = await world.store.settle_and_start("w1", [settlement(first)], first.fence)
    assert [each.ref.id for each in started.tasks] == ["t00000", "urgent"]
    _, started = await world.store.settle_and_start("w1", [], started.tasks[-1].fence)
    assert started.tasks == ()


@pytest.mark.parametrize(("share", "taken"), [(0, 3), (6, 3), (4, 1), (3, 0), (1, 0)])
async def test_it_takes_nothing_above_its_share(world: World, share: int, taken: int) -> None:
    await world.ready()
    running = await world.active(*tasks(6))
    await world.submit(*tasks(6, first=6))
    await world.store.dispatch([("w1", -share)], 64)
    ends = [settlement(each) for each in running[:3]]
    writes, started = await world.store.settle_and_start("w1", ends, running[-1].fence)
    assert (writes, len(started.tasks)) == ([Write.DONE] * 3, taken)
    assert (await world.dispatch()).placed == 6 - taken, "the dispatcher may give it more"


@pytest.mark.parametrize("why", ["no room in the reply", "draining", "lost", "paused", "its lease is over"])
async def test_it_takes_no_new_task(world: World, why: str) -> None:
    await world.ready(lease_ms=LEASE_MS)
    (first,) = await world.active(task("first"))
    await world.submit(*tasks(2))
    if why == "draining":
        await world.store.drain("w1")
    elif why == "lost":
        await world.store.evict("w1")
    elif why == "paused":
        await world.store.pause(1000)
    elif why == "its lease is over":
        world.now += LEASE_MS
    limit = 0 if why == "no room in the reply" else 256
    writes, started = await world.store.settle_and_start("w1", [settlement(first)], first.fence, limit)
    assert (writes, started.tasks) == ([Write.STALE if why == "lost" else Write.DONE], ())
    assert (await world.pool_view()).fence == 1


async def test_a_task_in_its_last_life_begins_when_the_others_have_ended(world: World) -> None:
    await world.ready(max_recoveries=1)
    first, second, _ = await world.active(task("first", priority=0), task("second", priority=0), task("killer"))
    await world.settle(first)
    await world.settle(second)
    await world.store.evict("w1")
    await world.worker("w1b")
    third, fourth = await world.active(*tasks(2, priority=0), worker="w1b")
    _, started = await world.store.settle_and_start("w1b", [settlement(third)], fourth.fence)
    assert (started.tasks, started.hold_ms is not None) == ((), True)
    assert await world.state("killer") is TaskState.ENQUEUED
    await world.submit(task("after"))
    _, started = await world.store.settle_and_start("w1b", [settlement(fourth)], fourth.fence)
    (alone,) = started.tasks
    assert alone.ref.id == "killer"
    _, started = await world.store.settle_and_start("w1b", [settlement(alone)], alone.fence)
    assert [each.ref.id for each in started.tasks] == ["after"]
    assert await check_invariants(world.store) == []


async def test_an_overdue_task_that_it_would_take_ends_without_a_call(world: World) -> None:
    await world.ready()
    (first,) = await world.active(task("first"))
    await world.submit(task("overdue", deadline_ms=10))
    world.now += 10
    _, started = await world.store.settle_and_start("w1", [settlement(first)], first.fence)
    assert started.tasks == ()
    assert await world.state("overdue") is TaskState.EXPIRED
    pool = await world.pool_view()
    assert (pool.live, pool.slots, pool.cost) == (0, 0, 0)


async def test_the_dispatcher_looks_after_a_tenant_that_it_parks(world: World) -> None:
    await world.ready(tenant={"starts": window(1, 1000)})
    (first,) = await world.active(task("first"))
    await world.submit(task("second"))
    await command(world.store, "DEL", world.store.keys.bell(DISPATCHER_BELL))
    _, started = await world.store.settle_and_start("w1", [settlement(first)], first.fence)
    assert started.tasks == ()
    assert await world.store.wait(DISPATCHER_BELL, 10)
    assert (await world.dispatch()).wake_ms == 1000
