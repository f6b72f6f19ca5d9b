"""A window of starts or spend is exact: never more in any interval of its length, and open again to the millisecond."""

import pytest

from fairlane.domain.events import ParkedRow
from fairlane.domain.policy import ParkReason, StopReason
from fairlane.domain.task import TaskState
from fairlane.store.messages import Return, SubmitStatus
from tests.support.store_dump import unchanged
from tests.support.store_windows import INTERVAL, PLACES, limited, run, window
from tests.support.store_world import START_MS, World, task, tasks


@pytest.mark.parametrize("where", PLACES)
async def test_the_next_start_is_allowed_exactly_one_interval_later(world: World, where: str) -> None:
    await limited(world, where, 3)
    await world.submit(*tasks(8))
    assert len(await run(world)) == 3
    for wait, more in ((INTERVAL - 1, 0), (1, 3), (INTERVAL - 1, 0), (1, 2)):
        world.now += wait
        assert len(await run(world)) == more


@pytest.mark.parametrize("where", PLACES)
async def test_starts_spread_over_time_each_wait_for_the_previous_one(world: World, where: str) -> None:
    await limited(world, where, 3)
    for number, at in enumerate((0, 400, 999)):
        world.now = START_MS + at
        await world.submit(task(f"early{number}"))
        assert len(await run(world)) == 1
    await world.submit(*tasks(3))
    for at, placed in ((999, 0), (1000, 1), (1399, 0), (1400, 1), (1998, 0), (1999, 1)):
        world.now = START_MS + at
        assert len(await run(world)) == placed, at


@pytest.mark.parametrize("where", PLACES)
async def test_a_burst_at_the_edge_never_starts_more_than_the_window_holds(world: World, where: str) -> None:
    """A window that is reset at fixed times would let twice as many tasks start around the edge."""
    await limited(world, where, 5)
    world.now = START_MS + INTERVAL - 1
    await world.submit(*tasks(20))
    assert len(await run(world)) == 5
    for at in (INTERVAL, INTERVAL + 1, 2 * INTERVAL - 2):
        world.now = START_MS + at
        assert await run(world) == []
    world.now = START_MS + 2 * INTERVAL - 1
    assert len(await run(world)) == 5


@pytest.mark.parametrize("where", PLACES)
async def test_a_place_counts_from_dispatch_and_its_interval_from_the_start(world: World, where: str) -> None:
    await limited(world, where, 2)
    await world.submit(*tasks(4))
    assert (await world.dispatch()).placed == 2
    world.now += 5 * INTERVAL
    assert (await world.dispatch()).placed == 0
    assert len(await world.start()) == 2
    world.now += INTERVAL - 1
    assert (await world.dispatch()).placed == 0
    world.now += 1
    assert (await world.dispatch()).placed == 2


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("way", ["released", "cancelled", "expired", "lost"])
async def test_an_attempt_that_ends_before_its_start_gives_its_place_back_at_once(
    world: World, where: str, way: str
) -> None:
    await limited(world, where, 1)
    await world.submit(task("t", deadline_ms=50))
    await world.dispatch()
    await world.submit(task("u"))
    assert (await world.dispatch()).placed == 0
    if way == "released":
        await world.store.release("w1", [Return(task("t").ref, 1)])
    elif way == "cancelled":
        await world.store.cancel([task("t").ref])
    elif way == "expired":
        world.now += 50
        assert await world.start() == []
    else:
        await world.store.evict("w1")
        await world.worker("w2")
    assert (await world.dispatch(64, "w1", "w2")).placed == 1


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("way", ["throttled", "released", "settled", "lost"])
async def test_a_started_attempt_keeps_its_stamp_however_it_ends(world: World, where: str, way: str) -> None:
    await limited(world, where, 1)
    (started,) = await world.active(task("t"))
    await world.submit(task("u"))
    await world.worker("w2")
    world.now += 10
    if way == "throttled":
        await world.throttle(started, 0)
    elif way == "released":
        await world.release(started)
    elif way == "settled":
        await world.settle(started, actual=0)
    else:
        await world.store.evict("w1")
    world.now = START_MS + INTERVAL - 1
    assert (await world.dispatch(64, "w1", "w2")).placed == 0
    world.now += 1
    assert (await world.dispatch(64, "w1", "w2")).placed == 1


async def test_spend_counts_estimates_and_admits_the_tasks_that_fit(world: World) -> None:
    await world.ready(tenant={"spend": window(250)})
    await world.submit(task("x", 200), task("y", 60), task("z", 50))
    assert [each.ref.id for each in await run(world)] == ["x"]
    await world.store.cancel([task("y").ref])
    assert [each.ref.id for each in await run(world)] == ["z"]


@pytest.mark.parametrize("owner", ["tenant", "pool"])
async def test_both_windows_hold_at_once(world: World, owner: str) -> None:
    both = {"starts": window(3, 500), "spend": window(250, INTERVAL)}
    await world.ready(tenant=both if owner == "tenant" else {}, **(both if owner == "pool" else {}))
    await world.submit(*(task(f"s{n}", 10) for n in range(4)), task("large", 215), task("last", 10))
    assert len(await run(world)) == 3
    world.now += 500
    assert [each.ref.id for each in await run(world)] == ["s3"]
    world.now += 499
    assert await run(world) == []
    world.now += 1
    assert [each.ref.id for each in await run(world)] == ["large", "last"]


async def test_the_tenant_s_and_the_pool_s_windows_hold_at_once(world: World) -> None:
    await world.ready(tenant={"starts": window(2)}, starts=window(3))
    await world.tenant("b")
    await world.submit(*tasks(5), *tasks(5, tenant="b"))
    assert sorted(each.ref.tenant for each in await run(world)) == ["a", "a", "b"]


@pytest.mark.parametrize("kind", [ParkReason.STARTS, ParkReason.SPEND])
async def test_a_closed_window_parks_its_tenant_alone_and_a_timer_wakes_it_exactly(
    world: World, kind: ParkReason
) -> None:
    await limited(world, f"tenant {kind}", 1)
    await world.tenant("b")
    await world.active(task("t"))
    await world.submit(*tasks(2), *tasks(3, tenant="b"))
    world.now += 300
    answer = await world.dispatch()
    assert (answer.placed, answer.stop, answer.wake_ms) == (3, StopReason.EMPTY, INTERVAL - 300)
    assert (await world.tenant_view()).parked is kind
    assert await world.rows("parked") == [ParkedRow("a", kind.value)]
    world.now += answer.wake_ms or 0
    assert (await world.dispatch()).placed == 1


@pytest.mark.parametrize("kind", [StopReason.STARTS, StopReason.SPEND])
async def test_a_closed_window_of_the_pool_stops_dispatch_and_says_until_when(world: World, kind: StopReason) -> None:
    await limited(world, f"pool {kind}", 2)
    await world.tenant("b")
    await world.active(task("t"))
    world.now += 300
    await world.submit(*tasks(2), *tasks(3, tenant="b"))
    assert len(await run(world)) == 1
    answer = await world.dispatch()
    assert (answer.placed, answer.stop, answer.wake_ms) == (0, kind, INTERVAL - 300)
    world.now += answer.wake_ms or 0
    assert (await world.dispatch()).placed == 1


async def test_while_nothing_has_started_the_next_check_is_one_interval_away(world: World) -> None:
    await limited(world, "tenant starts", 1)
    await world.submit(*tasks(2))
    await world.dispatch()
    world.now += 700
    await world.start()
    for _ in range(2):
        answer = await world.dispatch()
        assert answer.placed == 0
        world.now += answer.wake_ms or 0
    assert world.now == START_MS + 700 + INTERVAL
    assert (await world.dispatch()).placed == 1


@pytest.mark.parametrize("where", ["tenant spend", "pool spend"])
async def test_a_task_above_a_window_of_spend_is_refused_at_submit(world: World, where: str) -> None:
    await limited(world, where, 1, cost=100)
    async with unchanged(world.store):
        (answer,) = await world.store.submit([task("t", 101)], "c")
        assert (answer.status, answer.limit) == (SubmitStatus.COST_ABOVE_CEILING, 100)
    await world.submit(task("t", 100))


async def test_a_task_above_a_lowered_window_of_spend_ends_rejected(world: World) -> None:
    await world.ready(tenant={"spend": window(500)})
    await world.submit(task("large", 400), task("small", 100))
    await world.tenant("a", spend=window(300))
    assert [each.ref.id for each in await run(world)] == ["small"]
    assert await world.state("large") is TaskState.REJECTED
