"""A budget cannot be overspent: estimates are held, actual costs captured; only overruns exceed the limit."""

import pytest

from fairlane.domain.attempt import Outcome
from fairlane.domain.events import ParkedRow
from fairlane.domain.policy import BudgetPolicy, ParkReason
from fairlane.domain.task import TaskState
from fairlane.errors import ConfigError
from fairlane.store.messages import Ledger, Return, SubmitStatus, Write
from tests.support.store_dump import unchanged
from tests.support.store_raw import command
from tests.support.store_world import World, budget, settlement, task, tasks


async def test_an_unknown_tenant_has_no_ledger_and_one_without_a_budget_has_no_limit(world: World) -> None:
    await world.ready()
    assert await world.store.ledger("stranger") is None
    (started,) = await world.active(task("t"))
    await world.settle(started, actual=30)
    ledger = await world.ledger()
    assert (ledger.limit, ledger.remaining, ledger.spent, ledger.spent_total) == (None, None, 30, 30)


async def test_reading_a_ledger_changes_nothing(world: World) -> None:
    await world.ready(tenant={"budget": budget(500, period_ms=1000)}, lease_ms=3_600_000)
    await world.active(task("t"))
    world.now += 5000
    async with unchanged(world.store, clock=True):
        assert (await world.ledger()).held_before == 100


async def test_an_estimate_is_held_and_the_actual_captured_with_the_difference_refunded(world: World) -> None:
    await world.ready(tenant={"budget": budget(500)})
    (started,) = await world.active(task("t", 100))
    assert await world.ledger() == Ledger(500, 100, 0, 0, 0, 0, 0, 0, None)
    await world.settle(started, actual=40)
    assert await world.ledger() == Ledger(500, 0, 40, 0, 0, 0, 0, 40, None)
    assert (await world.ledger()).remaining == 460


async def test_only_dispatched_tasks_are_held(world: World) -> None:
    await world.ready(tenant={"budget": budget(500)})
    await world.submit(*tasks(9))
    assert (await world.ledger()).held == 0
    await world.dispatch(2)
    assert (await world.ledger()).held == 200


async def test_the_whole_limit_can_be_held_and_never_more(world: World) -> None:
    await world.ready(tenant={"budget": budget(300)})
    await world.submit(*tasks(5))
    assert (await world.dispatch()).placed == 3
    assert (await world.ledger()).remaining == 0
    assert (await world.tenant_view()).parked is ParkReason.BUDGET
    assert await world.rows("parked") == [ParkedRow("a", "budget")]


async def test_a_refund_releases_a_waiting_tenant(world: World) -> None:
    await world.ready(tenant={"budget": budget(250)})
    first, second = await world.active(*tasks(2))
    await world.submit(task("next"))
    assert (await world.dispatch()).placed == 0
    await world.settle(first, actual=51)
    assert (await world.tenant_view()).parked is ParkReason.BUDGET
    await world.settle(second, actual=99)
    assert (await world.tenant_view()).in_calendar
    assert (await world.dispatch()).placed == 1
    assert (await world.ledger()).remaining == 0


@pytest.mark.parametrize("outcome", list(Outcome))
async def test_usage_is_captured_once_for_every_outcome(world: World, outcome: Outcome) -> None:
    await world.ready(tenant={"budget": budget(500)})
    (started,) = await world.active(task("t"))
    end = settlement(started, outcome, 70)
    assert await world.store.settle("w1", [end, end]) == [Write.DONE, Write.REPEATED]
    assert await world.store.settle("w1", [end]) == [Write.REPEATED]
    ledger = await world.ledger()
    assert (ledger.held, ledger.spent, ledger.late, ledger.spent_total) == (0, 70, 0, 70)


async def test_every_attempt_of_a_task_counts(world: World) -> None:
    await world.ready(tenant={"budget": budget(500)})
    (started,) = await world.active(task("t"))
    await world.settle(started, Outcome.FAILED, 30)
    await world.dispatch()
    (again,) = await world.start()
    assert (await world.ledger()).held == 100
    await world.settle(again, actual=80)
    assert (await world.ledger()).spent == 110


async def test_an_overrun_is_captured_in_full_and_recorded_and_alone_passes_the_limit(world: World) -> None:
    await world.ready(tenant={"budget": budget(300)})
    first, second, third = await world.active(*tasks(3))
    await world.settle(first, actual=150)
    await world.settle(second, actual=60)
    ledger = await world.ledger()
    assert (ledger.held, ledger.spent, ledger.overrun, ledger.remaining) == (100, 210, 50, 0)
    await world.settle(third, Outcome.FAILED, 105, error="late")
    ledger = await world.ledger()
    assert (ledger.held, ledger.spent, ledger.overrun, ledger.remaining) == (0, 315, 55, 0)
    assert (await world.dispatch()).placed == 0


@pytest.mark.parametrize("way", ["throttled", "released", "released unstarted", "cancelled", "expired", "lost"])
async def test_a_task_that_did_not_run_gives_its_whole_hold_back(world: World, way: str) -> None:
    await world.ready(tenant={"budget": budget(100)}, throttle_scope="task", lease_ms=3_600_000)
    await world.submit(task("t", deadline_ms=500))
    await world.dispatch()
    if way in {"throttled", "released"}:
        (started,) = await world.start()
        await (world.throttle(started, 10) if way == "throttled" else world.release(started))
    elif way == "released unstarted":
        await world.store.release("w1", [Return((await world.view("t")).ref, 1)])
    elif way == "cancelled":
        await world.store.cancel([task("t").ref])
    elif way == "expired":
        world.now += 500
        assert await world.start() == []
    else:
        await world.store.evict("w1")
    assert await world.ledger() == Ledger(100, 0, 0, 0, 0, 0, 0, 0, None)


async def test_a_task_that_may_have_run_and_must_not_be_repeated_counts_its_estimate(world: World) -> None:
    await world.ready(tenant={"budget": budget(500)})
    await world.active(task("t", on_unknown="fail"))
    await world.store.evict("w1")
    assert await world.state("t") is TaskState.DEAD
    ledger = await world.ledger()
    assert (ledger.held, ledger.spent, ledger.overrun) == (0, 100, 0)


async def test_with_reject_a_task_ends_with_a_typed_error_when_it_would_have_been_served(world: World) -> None:
    await world.ready(tenant={"budget": budget(250, when_exhausted=BudgetPolicy.REJECT)})
    await world.tenant("b")
    await world.submit(*tasks(2), task("large", 100), task("small", 50), task("other", tenant="b"))
    assert (await world.dispatch()).placed == 4
    view = await world.view("large")
    assert (view.state, view.error_code) == (TaskState.REJECTED, "budget_exhausted")
    assert (await world.ledger()).remaining == 0
    assert [each.ref.id for each in (await world.store.collect("c", "0")).tasks] == ["large"]
    assert (await world.tenant_view()).parked is None


async def test_a_change_from_wait_to_reject_ends_the_waiting_tasks(world: World) -> None:
    await world.ready(tenant={"budget": budget(100)})
    await world.submit(*tasks(3))
    await world.dispatch()
    assert (await world.tenant_view()).parked is ParkReason.BUDGET
    await world.tenant("a", budget=budget(100, when_exhausted=BudgetPolicy.REJECT))
    await world.dispatch()
    assert [await world.state(f"t{n:05}") for n in range(3)] == [
        TaskState.ENQUEUED, TaskState.REJECTED, TaskState.REJECTED,
    ]  # fmt: skip


@pytest.mark.parametrize("policy", list(BudgetPolicy))
async def test_a_cost_above_the_whole_budget_is_refused_at_submit_naming_it(world: World, policy: BudgetPolicy) -> None:
    await world.ready(tenant={"budget": budget(250, when_exhausted=policy)})
    async with unchanged(world.store):
        (answer,) = await world.store.submit([task("t", 251)], "c")
        assert (answer.status, answer.limit) == (SubmitStatus.COST_ABOVE_CEILING, 250)
    await world.store.top_up("a", 1, "more")
    await world.submit(task("t", 251))
    assert (await world.dispatch()).placed == 1


async def test_a_budget_of_zero_admits_nothing(world: World) -> None:
    await world.ready(tenant={"budget": budget(0)})
    (answer,) = await world.store.submit([task("t", 1)], "c")
    assert answer.status is SubmitStatus.COST_ABOVE_CEILING


async def test_a_task_above_a_lowered_budget_ends_rejected_and_delays_no_other(world: World) -> None:
    await world.ready(tenant={"budget": budget(500)})
    await world.submit(task("large", 400), task("small", 50))
    await world.tenant("a", budget=budget(300))
    assert (await world.dispatch()).placed == 1
    assert (await world.view("large")).error_code == "cost_above_ceiling"


async def test_a_top_up_counts_once_per_key_and_releases_at_once(world: World) -> None:
    await world.ready(tenant={"budget": budget(100)})
    await world.submit(*tasks(4))
    assert (await world.dispatch()).placed == 1
    assert [await world.store.top_up("a", 100, "monday") for _ in range(3)] == [200, 200, 200]
    assert (await world.tenant_view()).in_calendar
    assert (await world.dispatch()).placed == 1
    assert await world.store.top_up("a", 150, "tuesday") == 350
    assert (await world.dispatch()).placed == 1
    assert (await world.ledger()).limit == 350
    assert [row.limit for row in await world.rows("budget")] == [100, 200, 350]


async def test_the_key_of_a_top_up_is_remembered_for_a_day(world: World) -> None:
    await world.ready(tenant={"budget": budget(100)})
    await world.store.top_up("a", 10, "monday")
    key = world.store.keys.key("top_up", "a", "1", "monday")
    assert 86_000_000 < await command(world.store, "PTTL", key) <= 86_400_000
    assert await command(world.store, "DEL", key) == 1  # as the server does after a day
    assert await world.store.top_up("a", 10, "monday") == 120


async def test_an_invalid_top_up_changes_nothing(world: World) -> None:
    await world.ready()
    async with unchanged(world.store, clock=True):
        for tenant, units, key in (("a", 5, "k"), ("stranger", 5, "k"), ("a", 0, "k"), ("a", 5, "bad key")):
            with pytest.raises(ConfigError):
                await world.store.top_up(tenant, units, key)


async def test_a_refused_or_repeated_call_changes_nothing(world: World) -> None:
    await world.ready(tenant={"budget": budget(150)})
    (started,) = await world.active(task("t"))
    await world.submit(task("u"))
    await world.dispatch()
    await world.store.top_up("a", 10, "once")
    async with unchanged(world.store, clock=True):
        await world.store.top_up("a", 10, "once")
        assert (await world.dispatch()).placed == 0
        assert await world.settle(started, worker="stranger") is Write.STALE
        (again,) = await world.store.submit([task("t")], "c")
        assert again.status is SubmitStatus.EXISTING
