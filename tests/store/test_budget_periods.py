"""Budget periods: they begin at their exact millisecond, and a task is charged to the one in which it was reserved."""

import pytest

from fairlane.domain.attempt import Outcome
from fairlane.domain.events import BudgetRow, PeriodRow, TenantRow
from fairlane.domain.policy import ParkReason
from fairlane.store.messages import Ledger
from tests.support.store_world import START_MS, World, budget, task, tasks

PERIOD = 1000
END = START_MS + PERIOD
"""A boundary between two periods of the default anchor."""


async def paid(world: World, limit: int = 100, **more: int) -> None:
    """Tenant ``a`` has a budget per period; the lease is so long that no worker is lost."""
    await world.ready(tenant={"budget": budget(limit, period_ms=PERIOD, **more)}, lease_ms=3_600_000)


@pytest.mark.parametrize(("offset", "placed"), [(-1, 0), (0, 1), (1, 1)])
async def test_a_used_up_budget_is_full_again_exactly_at_the_period_s_end(
    world: World, offset: int, placed: int
) -> None:
    await paid(world)
    (started,) = await world.active(task("t"))
    await world.settle(started)
    await world.submit(task("u"))
    answer = await world.dispatch()
    assert (answer.placed, answer.wake_ms) == (0, PERIOD)
    world.now = END + offset
    assert (await world.dispatch()).placed == placed


@pytest.mark.parametrize("offset", [-1, 0, 1])
async def test_a_task_is_charged_to_the_period_of_its_reservation_whenever_it_ends(world: World, offset: int) -> None:
    await paid(world)
    (started,) = await world.active(task("t"))
    world.now = END + offset
    await world.settle(started, actual=70)
    ledger = await world.ledger()
    if offset < 0:
        assert (ledger.spent, ledger.spent_before, ledger.remaining, ledger.period_ends_ms) == (70, 0, 30, END)
    else:
        assert (ledger.spent, ledger.spent_before, ledger.remaining, ledger.period_ends_ms) == (
            0, 70, 100, END + PERIOD,
        )  # fmt: skip


@pytest.mark.parametrize("offset", [-1, 0, 1])
async def test_a_reservation_belongs_to_the_period_in_which_it_was_made(world: World, offset: int) -> None:
    await paid(world)
    world.now = END + offset
    (started,) = await world.active(task("t"))
    world.now = END + PERIOD - 1
    await world.settle(started, actual=70)
    ledger = await world.ledger()
    assert (ledger.spent, ledger.spent_before) == ((0, 70) if offset < 0 else (70, 0))


@pytest.mark.parametrize("offset", [-1, 0, 1])
async def test_a_worker_lost_around_the_end_gives_each_period_its_holds_back(world: World, offset: int) -> None:
    await paid(world, limit=200)
    await world.active(task("ran", on_unknown="fail"))
    await world.submit(task("waited"))
    await world.dispatch()
    world.now = END + offset
    await world.store.evict("w1")
    ledger = await world.ledger()
    assert (ledger.held, ledger.held_before) == (0, 0)
    assert (ledger.spent, ledger.spent_before) == ((100, 0) if offset < 0 else (0, 100))


async def test_work_in_flight_does_not_take_from_the_next_period(world: World) -> None:
    await paid(world, limit=100)
    await world.active(task("old"))
    world.now = END
    await world.active(task("new"))
    assert await world.ledger() == Ledger(100, 100, 0, 0, 0, 100, 0, 0, END + PERIOD)


async def test_an_overrun_of_the_period_before_does_not_take_from_this_one(world: World) -> None:
    await paid(world)
    (started,) = await world.active(task("old"))
    world.now = END
    await world.settle(started, actual=900)
    ledger = await world.ledger()
    assert (ledger.spent, ledger.overrun, ledger.spent_before, ledger.remaining) == (0, 0, 900, 100)


@pytest.mark.parametrize("end", ["settled", "failed", "throttled", "released", "lost"])
async def test_work_may_outlast_two_periods(world: World, end: str) -> None:
    await paid(world, limit=300)
    (first,) = await world.active(task("first"))
    world.now += PERIOD
    (second,) = await world.active(task("second"))
    world.now += PERIOD
    (third,) = await world.active(task("third"))
    assert (await world.ledger()).held_before == 200
    if end == "lost":
        await world.store.evict("w1")
    for started in (third, first, second) if end != "lost" else ():
        if end == "throttled":
            await world.throttle(started, 0)
        elif end == "released":
            await world.release(started)
        else:
            await world.settle(started, Outcome.COMPLETED if end == "settled" else Outcome.FAILED, 70)
    ledger = await world.ledger()
    assert (ledger.held, ledger.held_before) == (0, 0)
    ran = end in {"settled", "failed"}
    assert (ledger.spent, ledger.spent_before, ledger.spent_total) == ((70, 70, 210) if ran else (0, 0, 0))


async def test_a_tenant_that_slept_through_many_periods_begins_one_with_its_whole_budget(world: World) -> None:
    await paid(world)
    (started,) = await world.active(task("t"))
    await world.settle(started)
    world.now = END + 50 * PERIOD + 400
    ledger = await world.ledger()
    assert (ledger.remaining, ledger.spent_total, ledger.period_ends_ms) == (100, 100, END + 51 * PERIOD)


async def test_the_anchor_sets_when_periods_begin(world: World) -> None:
    await paid(world, anchor_ms=START_MS + 5_250)
    assert (await world.ledger()).period_ends_ms == START_MS + 250
    world.now = START_MS + 250
    assert (await world.ledger()).period_ends_ms == START_MS + 250 + PERIOD


async def test_a_top_up_lasts_for_its_period_only(world: World) -> None:
    await paid(world)
    assert await world.store.top_up("a", 50, "k") == 150
    world.now = END - 1
    assert (await world.ledger()).limit == 150
    world.now = END
    assert (await world.ledger()).limit == 100
    assert await world.store.top_up("a", 50, "k") == 100


async def test_a_changed_limit_applies_at_once_and_counts_tasks_in_flight(world: World) -> None:
    await paid(world, limit=200)
    first, second = await world.active(*tasks(2))
    await world.submit(task("next"))
    await world.tenant("a", budget=budget(150, period_ms=PERIOD))
    assert ((await world.ledger()).limit, (await world.ledger()).remaining) == (150, 0)
    await world.settle(first, actual=10)
    assert (await world.dispatch()).placed == 0
    await world.tenant("a", budget=budget(210, period_ms=PERIOD))
    assert (await world.tenant_view()).in_calendar
    assert (await world.dispatch()).placed == 1
    await world.settle(second, actual=100)
    assert (await world.ledger()).spent == 110


async def test_a_changed_period_begins_empty_and_tasks_in_flight_are_charged_to_the_old_one(world: World) -> None:
    await paid(world, limit=200)
    first, second = await world.active(*tasks(2))
    await world.settle(first, actual=90)
    await world.tenant("a", budget=budget(200, period_ms=7 * PERIOD))
    assert await world.ledger() == Ledger(200, 0, 0, 0, 0, 100, 90, 90, 1_001_000)
    await world.settle(second, actual=80)
    ledger = await world.ledger()
    assert (ledger.held_before, ledger.spent, ledger.spent_before) == (0, 0, 170)


async def test_a_budget_may_be_removed_and_come_back_while_tasks_run(world: World) -> None:
    await paid(world, limit=100)
    (first,) = await world.active(task("first"))
    await world.submit(*tasks(2))
    assert (await world.dispatch()).placed == 0
    await world.tenant("a")
    assert (await world.tenant_view()).in_calendar
    assert (await world.dispatch(1)).placed == 1
    assert (await world.ledger()).limit is None
    await world.tenant("a", budget=budget(100, period_ms=PERIOD))
    ledger = await world.ledger()
    assert (ledger.held, ledger.held_before, ledger.remaining) == (0, 200, 100)
    await world.settle(first, actual=100)
    assert (await world.dispatch()).placed == 1
    assert (await world.ledger()).held == 100


async def test_the_total_of_a_budget_without_periods_survives_its_removal(world: World) -> None:
    await world.ready(tenant={"budget": budget(150)})
    (first,) = await world.active(task("t"))
    await world.tenant("a")
    await world.settle(first)
    await world.tenant("a", budget=budget(150))
    ledger = await world.ledger()
    assert (ledger.spent, ledger.remaining, ledger.period_ends_ms) == (100, 50, None)


async def test_a_waiting_tenant_wakes_at_the_end_of_the_period_that_is_in_force(world: World) -> None:
    await paid(world)
    await world.active(task("t"))
    await world.submit(task("u"))
    await world.dispatch()
    assert (await world.tenant_view()).parked is ParkReason.BUDGET
    world.now += 400
    assert (await world.dispatch()).wake_ms == 600
    world.now = END
    assert (await world.dispatch()).placed == 1
    assert await world.rows("period") == [PeriodRow("a", 2)]


async def test_events_report_every_period_and_the_budget_in_force(world: World) -> None:
    await paid(world)
    await world.store.top_up("a", 50, "k")
    world.now = END
    await world.active(task("t"))
    await world.tenant("a", budget=budget(70, period_ms=7 * PERIOD))
    await world.tenant("a")
    assert await world.rows("tenant", "budget", "period") == [
        TenantRow("a", 1, 0, 0), BudgetRow("a", 100), BudgetRow("a", 150), PeriodRow("a", 2), BudgetRow("a", 100),
        PeriodRow("a", 3), TenantRow("a", 1, 0, 0), BudgetRow("a", 70), PeriodRow("a", 4), TenantRow("a", 1, 0, 0),
    ]  # fmt: skip
