"""dispatch: it places the next tasks within every limit, and names the reason for which it stops."""

import asyncio

from fairlane.domain.events import EnqueuedRow
from fairlane.domain.policy import StopReason
from fairlane.domain.task import TaskState
from fairlane.store.prelude import TIMER_LIMIT, VISIT_LIMIT
from tests.support.store_dump import dump, unchanged
from tests.support.store_world import World, task, tasks

PLENTY = 100_000


async def test_a_placed_task_is_held_counted_and_owned_at_once(world: World) -> None:
    await world.ready(slots=3)
    await world.submit(task("t", 70))
    answer = await world.dispatch()
    assert (answer.placed, answer.stop, answer.runnable, answer.wake_ms) == (1, StopReason.EMPTY, 0, None)
    assert answer.free == {"w1": 2}
    assert await world.rows("enqueued") == [EnqueuedRow("a", "t", 1, 70, 70, "w1", -70.0, 0)]
    pool, tenant = await world.pool_view(), await world.tenant_view()
    assert (pool.slots, pool.cost, tenant.slots, tenant.cost, tenant.queued) == (1, 70, 1, 70, 0)
    assert await world.state("t") is TaskState.ENQUEUED


async def test_a_second_call_places_more_tasks_and_never_the_same(world: World) -> None:
    await world.ready()
    await world.submit(*tasks(5))
    assert [(await world.dispatch(2)).placed for _ in range(4)] == [2, 2, 1, 0]
    rows = await world.rows("enqueued")
    assert [row.fence for row in rows] == [1, 2, 3, 4, 5]
    assert len({row.task for row in rows}) == 5


async def test_many_dispatchers_at_once_exceed_no_limit(world: World) -> None:
    await world.ready(tenant={"slots": 1}, slots=4)
    await world.submit(*tasks(50))
    answers = await asyncio.gather(*(world.dispatch(8) for _ in range(50)))
    assert sum(answer.placed for answer in answers) == 1


async def test_with_nothing_to_do_it_changes_nothing(world: World) -> None:
    await world.ready()
    async with unchanged(world.store):
        answer = await world.dispatch()
    assert (answer.placed, answer.stop, answer.wake_ms) == (0, StopReason.EMPTY, None)


async def test_it_stops_when_the_batch_is_complete(world: World) -> None:
    await world.ready()
    await world.submit(*tasks(3))
    answer = await world.dispatch(2)
    assert (answer.placed, answer.stop, answer.runnable) == (2, StopReason.BATCH, 1)
    async with unchanged(world.store):
        assert (await world.dispatch(0)).stop is StopReason.BATCH


async def test_it_stops_at_the_capacity(world: World) -> None:
    await world.pool(slots=2)
    await world.tenant()
    await world.worker()
    await world.submit(*tasks(3))
    answer = await world.dispatch()
    assert (answer.placed, answer.stop) == (2, StopReason.CAPACITY)
    async with unchanged(world.store):
        assert (await world.dispatch()).stop is StopReason.CAPACITY


async def test_a_capacity_below_the_running_tasks_stops_it_without_taking_any_back(world: World) -> None:
    await world.ready()
    await world.submit(*tasks(5))
    await world.dispatch(4)
    assert await world.store.set_capacity(2) == 2
    assert (await world.dispatch()).stop is StopReason.CAPACITY
    for started in (await world.start())[:2]:
        await world.settle(started)
    assert (await world.dispatch()).stop is StopReason.CAPACITY
    await world.settle((await world.start())[0])
    assert (await world.dispatch()).placed == 1


async def test_a_large_head_waits_for_the_pool_s_cost_ceiling_and_nothing_overtakes_it(world: World) -> None:
    await world.ready(cost_ceiling_units=1000, quantum_units=1000)
    await world.tenant("b")
    await world.tenant("c")
    (running,) = await world.active(task("r", 600, tenant="c"))
    await world.submit(task("large", 500))
    await world.submit(task("small", 1, tenant="b"))
    answer = await world.dispatch()
    assert (answer.placed, answer.stop) == (0, StopReason.COST)
    await world.settle(running, actual=600)
    assert (await world.dispatch()).placed == 2


async def test_it_stops_while_the_pool_is_paused_and_says_how_long(world: World) -> None:
    await world.ready()
    await world.submit(task("t"))
    await world.store.pause(700)
    world.now += 100
    answer = await world.dispatch()
    assert (answer.placed, answer.stop, answer.wake_ms) == (0, StopReason.PAUSED, 600)
    world.now += 600
    assert (await world.dispatch()).placed == 1


async def test_paused_with_nothing_to_place_it_says_how_long_too(world: World) -> None:
    """A submit during a pause rings no bell, so the dispatcher must know when the pause ends."""
    await world.ready()
    await world.store.pause(700)
    answer = await world.dispatch()
    assert (answer.placed, answer.stop, answer.wake_ms) == (0, StopReason.PAUSED, 700)
    await world.submit(task("t"))
    world.now += 700
    assert (await world.dispatch()).placed == 1
    assert (await world.dispatch()).wake_ms is None


async def test_it_fills_workers_in_the_order_of_the_plan_within_their_slots(world: World) -> None:
    await world.ready(slots=2)
    await world.worker("w2", slots=8)
    await world.submit(*tasks(9))
    answer = await world.store.dispatch([("w2", 3), ("w1", 9)], 64)
    assert (answer.placed, answer.stop, answer.free) == (5, StopReason.WORKERS, {"w2": 5, "w1": 0})
    assert [row.incarnation for row in await world.rows("enqueued")] == ["w2"] * 3 + ["w1"] * 2


async def test_a_worker_named_twice_gets_no_more_than_its_slots(world: World) -> None:
    await world.ready(slots=3)
    await world.submit(*tasks(9))
    assert (await world.store.dispatch([("w1", 2), ("w1", 5)], 64)).placed == 3


async def test_without_a_worker_for_it_no_task_is_placed(world: World) -> None:
    await world.ready()
    await world.worker("draining")
    await world.worker("evicted")
    await world.store.drain("draining")
    await world.store.evict("evicted")
    await world.submit(task("t"))
    async with unchanged(world.store):
        answer = await world.store.dispatch([("draining", 4), ("evicted", 4), ("stranger", 4)], 64)
    assert (answer.stop, answer.free) == (StopReason.WORKERS, {})
    async with unchanged(world.store):
        assert (await world.store.dispatch([], 64)).stop is StopReason.WORKERS


async def test_a_worker_whose_lease_ran_out_gets_nothing_until_it_beats(world: World) -> None:
    await world.ready(lease_ms=1000)
    await world.submit(task("t"))
    for _ in range(4):  # the server is never silent for half a lease
        world.now += 250
        await world.store.admit(open=True)
    assert (await world.dispatch()).stop is StopReason.WORKERS
    await world.store.heartbeat("w1")
    assert (await world.dispatch()).placed == 1


async def test_one_call_visits_a_bounded_number_of_tenants(world: World) -> None:
    await world.ready(slots=PLENTY)
    names = [f"n{number:04}" for number in range(VISIT_LIMIT + 10)]
    for name in names:
        await world.tenant(name, slots=1)
    await world.submit(*(each for name in names for each in tasks(2, tenant=name)))
    await world.store.set_capacity(64)
    await world.pool(slots=PLENTY)
    await world.store.set_capacity(PLENTY)
    first = await world.dispatch(PLENTY)
    second = await world.dispatch(PLENTY)
    assert (first.stop, second.stop) == (StopReason.VISITS, StopReason.EMPTY)
    assert first.placed + second.placed == len(names)
    assert first.runnable == 10


async def test_one_call_fires_a_bounded_number_of_timers(world: World) -> None:
    await world.ready()
    await world.submit(*tasks(TIMER_LIMIT + 10, deadline_ms=50))
    world.now += 50
    first = await world.dispatch(0)
    assert len(await world.rows("expired")) == TIMER_LIMIT
    assert first.wake_ms == 0
    second = await world.dispatch(0)
    assert len(await world.rows("expired")) == TIMER_LIMIT + 10
    assert second.wake_ms is None


async def test_it_says_when_the_next_timer_is_due(world: World) -> None:
    await world.ready()
    await world.submit(task("t", deadline_ms=300))
    world.now += 100
    assert (await world.dispatch(0)).wake_ms == 200


async def test_the_dump_that_other_tests_compare_sees_a_change(world: World) -> None:
    await world.ready()
    before = await dump(world.store)
    await world.submit(task("t"))
    assert await dump(world.store) != before
