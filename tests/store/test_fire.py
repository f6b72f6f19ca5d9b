"""fire: what is due happens, whoever asks, and once."""

from fairlane.domain.task import TaskState
from fairlane.store.prelude import TIMER_LIMIT
from tests.support.store_dump import unchanged
from tests.support.store_world import World, task, tasks


async def test_a_deadline_ends_its_task_and_nothing_else_changes(world: World) -> None:
    await world.ready()
    await world.submit(task("early", deadline_ms=50), task("late", deadline_ms=51))
    async with unchanged(world.store):
        assert await world.store.fire() == 0
    world.now += 50
    assert await world.store.fire() == 1
    assert (await world.state("early"), await world.state("late")) == (TaskState.EXPIRED, TaskState.PENDING)
    async with unchanged(world.store):
        assert await world.store.fire() == 0


async def test_one_call_fires_a_bounded_number(world: World) -> None:
    await world.ready()
    await world.submit(*tasks(TIMER_LIMIT + 10, deadline_ms=50))
    world.now += 50
    assert [await world.store.fire() for _ in range(3)] == [TIMER_LIMIT, 10, 0]


async def test_a_tenant_whose_window_reopens_can_be_served(world: World) -> None:
    await world.ready(tenant={"starts": {"limit": 1, "interval_ms": 100}})
    await world.active(task("first"))
    await world.submit(task("second"))
    assert (await world.dispatch()).placed == 0
    world.now += 100
    assert await world.store.fire() == 1
    assert (await world.pool_view()).runnable == 1
    assert (await world.dispatch()).placed == 1
