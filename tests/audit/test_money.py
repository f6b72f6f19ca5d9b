"""The audit adds up the amounts in the events: they must equal the ledger, and no handover may exceed its budget."""

from collections.abc import AsyncIterator

import pytest

from fairlane.audit import Rule, Violation, check_invariants
from fairlane.domain.attempt import Outcome
from fairlane.store.connection import Endpoint
from tests.support.store_packed import pack_rows, poke
from tests.support.store_raw import command
from tests.support.store_windows import window
from tests.support.store_world import World, budget, settlement, task, tasks


@pytest.fixture
async def paid(endpoint: Endpoint, name: str) -> AsyncIterator[World]:
    """A budget that was spent in every way. The state is sound until the test corrupts it.

    In its first period tenant ``a`` spent 100 and 60; t00002 of that period ended in the second with 150 on 100. In the
    second it spent 80 on 50, booked 30 of late usage, was topped up by 40, and has t00004 (100) in flight.
    """
    world = World(endpoint, name)
    async with world.store as store:
        await world.ready(tenant={"budget": budget(500, period_ms=1000)}, lease_ms=3_600_000)
        first, second, third = await world.active(*tasks(3))
        await world.settle(first)
        await world.settle(second, Outcome.FAILED, 60, backoff_ms=5000)
        world.now += 1000
        await world.settle(third, actual=150)
        await store.top_up("a", 40, "k")
        (over,) = await world.active(task("over", 50))
        await world.settle(over, actual=80)
        await world.worker("w2")
        (lost,) = await world.active(task("lost", 100), worker="w2")
        await store.evict("w2")
        await store.settle("w2", [settlement(lost, actual=30)])
        await store.cancel([lost.ref])
        await world.active(task("t00004", 100))
        ledger = await world.ledger()
        assert (ledger.limit, ledger.held, ledger.spent, ledger.overrun, ledger.late) == (540, 100, 80, 30, 30)
        assert (ledger.spent_before, ledger.spent_total) == (310, 420)
        assert await check_invariants(store) == []
        yield world
        await store.erase()


async def found(world: World) -> list[Violation]:
    return [each for each in await check_invariants(world.store) if each.rule is Rule.LEDGER]


async def forge(world: World, *row: str | int) -> None:
    """Append an event of one row."""
    number = (await world.pool_view()).events + 1
    fields = ("n", number, "at", world.now, "by", "forged", "rows", pack_rows(row))
    await command(world.store, "XADD", world.store.keys.events, "*", *fields)
    await poke(world.store, "pool", events=number)


@pytest.mark.parametrize(
    ("part", "sum_of_events"),
    [("spent", 80), ("overrun", 30), ("late", 30), ("spent_before", 310), ("spent_total", 420), ("period", 2)],
)
@pytest.mark.parametrize("value", [0, 10**6])
async def test_a_sum_that_differs_from_the_events_is_found(
    paid: World, part: str, sum_of_events: int, value: int
) -> None:
    await poke(paid.store, "tenant", "a", **{part: value})
    assert [(each.subject, each.found, each.expected) for each in await found(paid)] == [
        (f"tenant:a {part}", str(value), f"{sum_of_events}, as the events add up to")
    ]


@pytest.mark.parametrize("part", ["top_up", "budget"])
async def test_a_budget_that_no_event_set_is_found(paid: World, part: str) -> None:
    await poke(paid.store, "tenant", "a", **{part: 41})
    assert [each.subject for each in await found(paid)] == ["tenant:a budget and top_up"]


async def test_a_settlement_that_counts_twice_is_found(paid: World) -> None:
    await poke(paid.store, "tenant", "a", spent=160, overrun=60, spent_total=500)
    assert {each.subject for each in await found(paid)} == {
        "tenant:a spent",
        "tenant:a overrun",
        "tenant:a spent_total",
    }


async def test_late_usage_that_is_booked_twice_is_found(paid: World) -> None:
    await forge(paid, "late", "a", "lost", 5, 30)
    await poke(paid.store, "tenant", "a", late=60, spent_total=450)
    (hit,) = await found(paid)
    assert (hit.found, hit.expected) == ("late usage of attempt 5 again", "each attempt's once")


async def test_a_handover_above_the_budget_is_found(paid: World) -> None:
    await forge(paid, "enqueued", "a", "t00001", 90, 330, 330, "w1", 0.0, 0)
    assert await found(paid) == []
    await forge(paid, "enqueued", "a", "t00001", 91, 1, 1, "w1", 0.0, 0)
    (hit,) = await found(paid)
    assert (hit.found, hit.expected) == ("541 held and spent", "no more than the budget of 540")


async def test_the_sums_of_a_trimmed_stream_are_not_compared(paid: World) -> None:
    entries = await paid.events()
    await command(paid.store, "XTRIM", paid.store.keys.events, "MINID", entries[4].stream_id)
    assert await found(paid) == []


async def test_a_tenant_that_was_registered_again_begins_at_zero(again: World) -> None:
    ledger = await again.ledger()
    assert (ledger.spent_total, ledger.period_ends_ms is None) == (0, True)
    assert await check_invariants(again.store) == []


@pytest.fixture
async def again(paid: World) -> World:
    (started,) = await paid.start()
    await paid.settle(started)
    await paid.store.cancel([task("t00001").ref])
    assert await paid.store.remove_tenant("a")
    await paid.tenant("a", budget=budget(5))
    return paid


async def test_a_lengthened_interval_raises_no_false_alarm(endpoint: Endpoint, name: str) -> None:
    """Stamps that one kind of window has passed stay in the list for the other kind, and do not count again."""
    world = World(endpoint, name)
    async with world.store as store:
        starts = window(100, 10_000)
        await world.ready(tenant={"starts": starts, "spend": window(100, 100)}, lease_ms=3_600_000)
        (early,) = await world.active(task("t0", 60))
        await world.settle(early)
        world.now += 100
        (late,) = await world.active(task("t1", 100))
        await world.settle(late)
        await world.tenant("a", starts=starts, spend=window(100, 1000))
        await world.submit(task("t2", 50))
        assert (await world.dispatch()).wake_ms == 1000
        assert await check_invariants(store) == []
        await store.erase()
