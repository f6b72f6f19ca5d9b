"""Both kinds of windows share one list of stamps: each kind passes each stamp once, and the list stays short."""

import pytest

from fairlane.audit import check_invariants
from fairlane.config import TenantConfig
from fairlane.store.prelude import WINDOW_TRIM
from tests.support.store_windows import INTERVAL, LONG_LEASE, held, stamps, window
from tests.support.store_world import START_MS, World, settlement, task, tasks


async def start_one_by_one(world: World, count: int, first: int = 0, cost: int = 10) -> None:
    """Start this number of tasks of tenant ``a``, each by its own call, all at this moment, and end them."""
    await world.submit(*tasks(count, cost, first=first))
    while (await world.dispatch(256)).placed:
        pass
    cursor, ended = 0, []
    for _ in range(count):
        (started,) = (await world.store.start("w1", cursor, 1)).tasks
        cursor = started.fence
        ended.append(settlement(started))
    for begin in range(0, count, 256):
        await world.store.settle("w1", ended[begin : begin + 256])


async def test_the_starts_of_one_call_are_one_stamp_of_each_owner(world: World) -> None:
    both = {"starts": window(100), "spend": window(10**6)}
    await world.ready(tenant=both, lease_ms=LONG_LEASE, **both)
    await world.tenant("b", spend=window(10**6))
    await world.active(*tasks(3), *tasks(2, 7, tenant="b"))
    assert await stamps(world, "a") == [(START_MS, 3, 300)]
    assert await stamps(world, "b") == [(START_MS, 0, 14)]
    assert await stamps(world, "*") == [(START_MS, 5, 314)]


@pytest.mark.parametrize(("starts", "spend"), [(300, 1000), (1000, 300)])
async def test_each_kind_passes_a_stamp_once_after_its_own_interval(world: World, starts: int, spend: int) -> None:
    windows = {"starts": window(2, starts), "spend": window(20, spend)}
    await world.ready(tenant=windows, lease_ms=LONG_LEASE)
    await start_one_by_one(world, 2)
    await world.submit(task("next", 10))
    for at, starts_held, spend_held in ((299, 2, 20), (300, 0 if starts == 300 else 2, 0 if spend == 300 else 20)):
        world.now = START_MS + at
        assert (await world.dispatch()).placed == 0
        await world.tenant("a", **windows)  # checks a parked tenant again
        assert await held(world) == (starts_held, spend_held)
        assert len(await stamps(world)) == 2
        assert await check_invariants(world.store) == []
    world.now = START_MS + 1000
    assert (await world.dispatch()).placed == 1
    assert (await held(world), await stamps(world)) == ((1, 10), [])


@pytest.mark.parametrize("gone", ["starts", "spend"])
async def test_a_kind_that_is_switched_off_still_forgets_and_keeps_no_stamp(world: World, gone: str) -> None:
    windows = {"starts": window(100), "spend": window(10**4)}
    await world.ready(tenant=windows, lease_ms=LONG_LEASE)
    await start_one_by_one(world, 3)
    await world.tenant("a", **{kind: each for kind, each in windows.items() if kind != gone})
    world.now += 600
    await start_one_by_one(world, 2, first=3)
    assert await held(world) == ((3, 50) if gone == "starts" else (5, 30))
    world.now += 400
    await start_one_by_one(world, 1, first=5)
    assert await held(world) == ((0, 30) if gone == "starts" else (3, 0))
    assert len(await stamps(world)) == 3
    await world.tenant("a", **windows)
    await start_one_by_one(world, 1, first=6)
    assert await held(world) == ((1, 40) if gone == "starts" else (4, 10))
    assert await check_invariants(world.store) == []


async def test_a_kind_that_is_switched_on_again_counts_the_stamps_in_its_interval(world: World) -> None:
    spend = window(20, INTERVAL // 4)
    await world.ready(tenant={"starts": window(2), "spend": spend}, lease_ms=LONG_LEASE)
    await start_one_by_one(world, 2)
    await world.tenant("a", spend=spend)
    world.now += INTERVAL // 2
    await start_one_by_one(world, 1, first=2)
    assert await held(world) == (2, 10)
    await world.tenant("a", starts=window(2), spend=spend)
    await world.submit(*tasks(1, 10, first=3))
    for at, placed in ((INTERVAL - 1, 0), (INTERVAL, 1)):
        world.now = START_MS + at
        assert (await world.dispatch()).placed == placed


async def test_the_list_stays_within_two_intervals_for_any_order_of_tenants(world: World) -> None:
    """A window that never fills is trimmed too: 64 tenants that take turns never see each other's fences."""
    names = [f"n{number:02}" for number in range(64)]
    config = TenantConfig(starts=window(10**6), spend=window(10**9))
    await world.pool(lease_ms=LONG_LEASE, starts=window(10**6), slots=64)
    await world.store.put_tenants(dict.fromkeys(names, config))
    await world.worker("w1")
    cursor = 0
    for turn in range(60):
        await world.submit(*(task(f"t{turn}", tenant=name) for name in names))
        await world.dispatch()
        for started in await world.start(cursor=cursor):
            await world.settle(started)
            cursor = max(cursor, started.fence)
        world.now += INTERVAL // 10
    for owner in (*names, "*"):
        assert 10 <= len(await stamps(world, owner)) <= 21
    assert await check_invariants(world.store) == []


async def test_stamps_of_one_millisecond_are_passed_in_bounded_steps_which_only_over_count(world: World) -> None:
    count = WINDOW_TRIM + 50
    await world.ready(slots=10**4, tenant={"starts": window(count), "spend": window(10 * count)})
    await world.pool(slots=10**4, lease_ms=LONG_LEASE)
    await start_one_by_one(world, count)
    assert (await held(world), len(await stamps(world))) == ((count, 10 * count), count)
    world.now += INTERVAL
    await world.submit(*tasks(100, 10, first=count))
    await world.dispatch(1)
    assert (await held(world), len(await stamps(world))) == ((51, 510), 50)
    await world.dispatch(99)
    assert (await held(world), await stamps(world)) == ((100, 1000), [])


async def test_a_window_with_more_expired_stamps_than_one_call_passes_is_checked_again_at_once(world: World) -> None:
    count = WINDOW_TRIM + 50
    await world.ready(slots=10**4, tenant={"starts": window(count)})
    await world.pool(slots=10**4, lease_ms=LONG_LEASE)
    await start_one_by_one(world, count)
    world.now += INTERVAL
    await world.tenant("a", starts=window(1))
    await world.submit(*tasks(1, first=count))
    answer = await world.dispatch()
    if answer.placed == 0:
        assert answer.wake_ms == 0
        answer = await world.dispatch()
    assert answer.placed == 1
    assert await held(world) == (1, 0)


async def test_a_shortened_interval_forgets_within_two_of_the_new_one(world: World) -> None:
    await world.ready(tenant={"starts": window(10**6, 86_400_000)}, lease_ms=LONG_LEASE)
    await start_one_by_one(world, 5)
    await world.tenant("a", starts=window(10**6))
    world.now += INTERVAL
    await start_one_by_one(world, 1, first=5)
    assert await held(world) == (1, 0)
    assert len(await stamps(world)) == 1


async def test_a_removed_window_of_a_day_keeps_no_stamp_of_the_other_once_it_is_empty(world: World) -> None:
    spend = window(10**6, 86_400_000)
    await world.ready(tenant={"starts": window(10**6), "spend": spend}, lease_ms=LONG_LEASE)
    await start_one_by_one(world, 5)
    await world.tenant("a", starts=window(10**6))
    world.now += 86_400_000
    await world.store.heartbeat("w1")
    for turn in range(4):
        await start_one_by_one(world, 1, first=5 + turn)
        world.now += INTERVAL
    await start_one_by_one(world, 1, first=9)
    assert await held(world) == (1, 0)
    assert len(await stamps(world)) == 1


@pytest.mark.parametrize("place", ["started", "enqueued"])
async def test_when_both_windows_are_removed_the_list_ends(world: World, place: str) -> None:
    await world.ready(tenant={"starts": window(10**6), "spend": window(10**6, 300)}, lease_ms=LONG_LEASE)
    await start_one_by_one(world, 5)
    if place == "enqueued":
        await world.submit(task("late", 10))
        await world.dispatch()
    await world.tenant("a")
    cursor = 0
    for turn in range(4):
        world.now += INTERVAL
        for started in await world.start(cursor=cursor):
            await world.settle(started)
        await start_one_by_one(world, 1, first=5 + turn)
        cursor = max(cursor, 0)
    assert await held(world) == (0, 0)
    assert await world.key_type("window", "a") == "none"


async def test_the_pool_s_list_ends_with_its_window_too(world: World) -> None:
    await world.ready(starts=window(10**6), lease_ms=LONG_LEASE)
    await start_one_by_one(world, 5)
    await world.pool(lease_ms=LONG_LEASE)
    world.now += INTERVAL
    await start_one_by_one(world, 1, first=5)
    assert await held(world, "*") == (0, 0)
    assert await world.key_type("window", "*") == "none"
