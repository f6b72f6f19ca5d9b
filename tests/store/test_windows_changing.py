"""Windows whose limits change and the stamps that they keep; closed windows cost a dispatch nothing."""

import re
from typing import Any

import pytest

from fairlane.config import TenantConfig
from fairlane.domain.policy import ParkReason, StopReason
from fairlane.store.messages import Return
from tests.support.store_raw import command
from tests.support.store_windows import INTERVAL, LONG_LEASE, held, limited, run, stamps, window
from tests.support.store_world import START_MS, World, budget, task, tasks


async def closed(world: World) -> None:
    """One start at START_MS closed the window of tenant ``a``, which has two waiting tasks."""
    await limited(world, "tenant starts", 1)
    await world.active(task("t"))
    await world.submit(*tasks(2))
    await world.dispatch()
    assert (await world.tenant_view()).parked is ParkReason.STARTS


async def test_a_raised_limit_opens_it_at_once(world: World) -> None:
    await closed(world)
    await world.tenant("a", starts=window(2))
    assert (await world.tenant_view()).in_calendar
    assert (await world.dispatch()).placed == 1


async def test_a_removed_window_lets_everything_through_and_remembers_if_it_comes_back(world: World) -> None:
    await closed(world)
    await world.tenant("a")
    assert (await world.dispatch()).placed == 2
    await world.submit(task("u"))
    await world.tenant("a", starts=window(1))
    assert (await world.dispatch()).placed == 0
    world.now = START_MS + INTERVAL
    assert (await world.dispatch()).placed == 1


@pytest.mark.parametrize("interval", [300, 2 * INTERVAL])
async def test_a_changed_interval_moves_the_wake_up_to_the_exact_moment(world: World, interval: int) -> None:
    await closed(world)
    await world.tenant("a", starts=window(1, interval))
    world.now += 100
    answer = await world.dispatch()
    assert (answer.placed, answer.wake_ms) == (0, interval - 100)
    world.now += interval - 100
    assert (await world.dispatch()).placed == 1


async def test_a_shortened_interval_that_has_passed_opens_it_at_once(world: World) -> None:
    await closed(world)
    world.now += 400
    await world.tenant("a", starts=window(1, 400))
    assert (await world.dispatch()).placed == 1


async def test_a_lowered_limit_keeps_it_closed_until_enough_stamps_have_left(world: World) -> None:
    await limited(world, "tenant starts", 3)
    for number in range(3):
        world.now = START_MS + 100 * number
        await world.active(task(f"early{number}"))
    await world.submit(*tasks(3))
    await world.dispatch()
    await world.tenant("a", starts=window(1))
    for at, placed in ((1000, 0), (1100, 0), (1199, 0), (1200, 1)):
        world.now = START_MS + at
        assert (await world.dispatch()).placed == placed, at


async def test_the_pool_s_window_changes_at_once_too(world: World) -> None:
    await limited(world, "pool starts", 1)
    await world.submit(*tasks(3))
    assert len(await run(world)) == 1
    await world.pool(starts=window(2), lease_ms=LONG_LEASE)
    assert len(await run(world)) == 1
    await world.pool(lease_ms=LONG_LEASE)
    assert len(await run(world)) == 1


@pytest.mark.parametrize(("where", "owner"), [("tenant spend", "a"), ("pool spend", "*")])
async def test_the_sum_of_a_window_of_spend_is_right_whichever_stamps_leave_it(
    world: World, where: str, owner: str
) -> None:
    async def holds(*stamped: int, total: int) -> None:
        found = [spend for _, _, spend in await stamps(world, owner)]
        assert (found, (await held(world, owner))[1]) == (list(stamped), total)

    await limited(world, where, 10)
    first, second = await world.active(task("x", 10), task("y", 20))
    await world.submit(task("z", 40))
    await world.dispatch()
    await holds(30, total=70)
    await world.store.cancel([task("z").ref])
    await world.settle(first, actual=5)
    await world.throttle(second, 0)
    await holds(30, total=30)
    world.now += INTERVAL
    await world.dispatch()
    (again,) = await world.start()
    await holds(20, total=20)
    await world.submit(task("last", 80))
    await world.dispatch()
    await holds(20, total=100)
    await world.tenant("a")
    await world.pool(lease_ms=LONG_LEASE)
    await world.settle(again)
    await world.store.release("w1", [Return(task("last").ref, again.fence + 1)])
    await holds(20, total=20)
    await limited(world, where, 10)
    await world.dispatch()
    await holds(20, total=100)
    await limited(world, where, 1)
    await world.submit(task("more", 10))
    assert (await world.dispatch()).placed == 0
    await holds(20, total=100)


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"starts": window(1)}, ParkReason.STARTS),
        ({"spend": window(100)}, ParkReason.SPEND),
        ({"budget": budget(100, period_ms=INTERVAL)}, ParkReason.BUDGET),
    ],
)
async def test_a_tenant_that_waited_for_a_slot_then_waits_for_the_window(
    world: World, limits: dict[str, Any], reason: ParkReason
) -> None:
    await world.ready(tenant={"slots": 1, **limits}, lease_ms=LONG_LEASE)
    (started,) = await world.active(task("t"))
    await world.submit(task("u"))
    await world.dispatch()
    assert (await world.tenant_view()).parked is ParkReason.SLOTS
    await world.settle(started)
    assert (await world.tenant_view()).parked is reason
    assert (await world.dispatch()).wake_ms == INTERVAL
    world.now += INTERVAL
    assert (await world.dispatch()).placed == 1


async def test_a_removed_tenant_leaves_no_window_and_no_timer(world: World) -> None:
    await limited(world, "tenant starts", 1)
    (started,) = await world.active(task("t"))
    await world.submit(task("u"))
    await world.dispatch()
    await world.store.cancel([task("u").ref])
    await world.settle(started)
    assert await world.store.remove_tenant("a")
    assert await world.key_type("window", "a") == "none"
    assert await command(world.store, "ZRANGE", world.store.keys.key("timers"), 0, -1) == []


async def commands(world: World) -> int:
    """The number of commands that scripts and clients have run on the server."""
    info = await world.store.info("commandstats")
    return sum(int(re.findall(r"calls=(\d+)", value)[0]) for name, value in info.items() if name != "cmdstat_info")


@pytest.mark.parametrize("limit", ["starts", "spend", "budget"])
async def test_parked_tenants_cost_a_decision_nothing(world: World, limit: str) -> None:
    closed_for_long = {"starts": window(1, 10**7), "spend": window(100, 10**7), "budget": budget(100)}[limit]
    parked = TenantConfig.model_validate({limit: closed_for_long})
    await world.ready(slots=5000)
    await world.pool(slots=5000, quantum_units=100)
    await world.submit(*tasks(4))
    costs = []
    for crowd in (0, 1000):
        names = [f"p{crowd}-{number}" for number in range(crowd)]
        await world.store.put_tenants(dict.fromkeys(names, parked))
        await world.submit(*(task(each, tenant=name) for name in names for each in ("x", "y")))
        while (await world.dispatch(255)).stop is not StopReason.EMPTY:
            pass
        await world.submit(*tasks(4, first=100 + crowd))
        before = await commands(world)
        assert (await world.dispatch(1)).placed == 1
        costs.append(await commands(world) - before)
    assert costs[0] == costs[1]
    assert len(await world.rows("parked")) == 1000
