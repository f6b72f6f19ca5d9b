"""Usage of an attempt that was taken away: booked once, counted against the budget, never the task's own cost."""

import pytest

from fairlane.domain.attempt import Outcome
from fairlane.domain.events import LateRow
from fairlane.domain.policy import ParkReason
from fairlane.domain.task import TaskState
from fairlane.store.messages import StartedTask, Write
from fairlane.store.prelude import RECOVERY_LIMIT
from tests.support.store_dump import unchanged
from tests.support.store_raw import command
from tests.support.store_world import World, budget, settlement, task, tasks


async def lost_attempt(world: World, **fields: object) -> StartedTask:
    """Task ``t`` of tenant ``a``, started by a worker that was then evicted."""
    await world.ready(tenant={"budget": budget(500)}, lease_ms=3_600_000)
    await world.worker("w2")
    (started,) = await world.active(task("t", **fields))
    return started


async def test_it_is_booked_once_however_often_it_is_reported(world: World) -> None:
    started = await lost_attempt(world)
    await world.store.evict("w1")
    end = settlement(started, actual=70)
    assert await world.store.settle("w1", [end, end]) == [Write.STALE, Write.STALE]
    async with unchanged(world.store, clock=True):
        for outcome in Outcome:
            assert await world.settle(started, outcome, 90) is Write.STALE
    ledger = await world.ledger()
    assert (ledger.held, ledger.spent, ledger.late, ledger.remaining, ledger.spent_total) == (0, 0, 70, 430, 70)
    assert await world.rows("late") == [LateRow("a", "t", 1, 70)]


async def test_it_is_never_the_cost_of_the_finished_task(world: World) -> None:
    started = await lost_attempt(world)
    await world.store.evict("w1")
    await world.dispatch(1, "w2")
    (again,) = await world.start("w2")
    await world.settle(again, actual=40, worker="w2")
    await world.settle(started, actual=70)
    view = await world.view("t")
    assert (view.state, view.actual, view.fence) == (TaskState.COMPLETED, 40, again.fence)
    ledger = await world.ledger()
    assert (ledger.spent, ledger.late, ledger.spent_total) == (40, 70, 110)
    async with unchanged(world.store, clock=True):
        assert await world.settle(again, actual=40, worker="w2") is Write.REPEATED
        assert await world.settle(started, actual=70) is Write.STALE


async def test_every_lost_attempt_of_a_task_is_booked_by_itself(world: World) -> None:
    first = await lost_attempt(world)
    await world.store.evict("w1")
    await world.dispatch(1, "w2")
    (second,) = await world.start("w2")
    await world.store.evict("w2")
    await world.settle(second, actual=20, worker="w2")
    await world.settle(first, actual=10)
    await world.settle(first, actual=10)
    assert await world.rows("late") == [LateRow("a", "t", second.fence, 20), LateRow("a", "t", first.fence, 10)]
    assert (await world.ledger()).late == 30


async def test_it_counts_against_the_budget_that_others_wait_for(world: World) -> None:
    started = await lost_attempt(world)
    await world.store.evict("w1")
    await world.settle(started, actual=401)
    assert (await world.dispatch(1, "w2")).placed == 0
    assert (await world.tenant_view()).parked is ParkReason.BUDGET


@pytest.mark.parametrize("end", ["cancelled", "expired", "rejected"])
async def test_usage_of_a_task_that_ends_after_its_loss_without_another_attempt_is_booked(
    world: World, end: str
) -> None:
    started = await lost_attempt(world, deadline_ms=1000)
    await world.store.evict("w1")
    assert await world.state("t") is TaskState.PENDING
    if end == "cancelled":
        await world.store.cancel([started.ref])
    elif end == "expired":
        world.now += 1000
    else:
        await world.tenant("a", budget=budget(50))
    await world.dispatch(1, "w2")
    assert await world.state("t") == end
    for _ in range(2):
        assert await world.settle(started, actual=70) is Write.STALE
    assert (await world.ledger()).late == 70


async def test_a_task_handed_back_or_never_started_has_used_nothing(world: World) -> None:
    started = await lost_attempt(world)
    await world.submit(task("unstarted"))
    await world.dispatch(1, "w1")
    await world.release(started)
    await world.store.evict("w1")
    unstarted = StartedTask(task("unstarted").ref, started.fence + 1, 100, b"", 0, None)
    async with unchanged(world.store, clock=True):
        assert await world.settle(started, actual=70) is Write.STALE
        assert await world.settle(unstarted, actual=70) is Write.STALE


@pytest.mark.parametrize("end", ["cancelled", "expired", "given up"])
async def test_usage_of_a_task_that_ended_with_its_lost_worker_is_still_booked(world: World, end: str) -> None:
    started = await lost_attempt(world, deadline_ms=1000)
    if end == "cancelled":
        await world.store.cancel([started.ref])
    elif end == "expired":
        world.now += 1000
    else:
        await world.pool(max_recoveries=0, lease_ms=3_600_000)
    await world.store.evict("w1")
    assert (await world.state("t")).ended
    for _ in range(3):
        assert await world.settle(started, actual=70) is Write.STALE
    ledger = await world.ledger()
    assert (ledger.held, ledger.spent, ledger.late, ledger.spent_total) == (0, 0, 70, 70)
    assert (await world.view("t")).actual == 0


async def test_a_task_that_was_charged_its_estimate_when_it_was_lost_is_not_charged_again(world: World) -> None:
    started = await lost_attempt(world, on_unknown="fail")
    await world.store.evict("w1")
    async with unchanged(world.store, clock=True):
        assert await world.settle(started, actual=70) is Write.STALE
    assert (await world.ledger()).spent_total == 100


@pytest.mark.parametrize("on_unknown", ["retry", "fail"])
async def test_it_is_booked_once_while_recovery_is_under_way(world: World, on_unknown: str) -> None:
    """A lost worker's tasks are taken back in steps; it may report usage of one before that task's step."""
    await world.ready(tenant={"budget": budget(10**6)}, slots=256)
    await world.pool(slots=256)
    started = await world.active(*tasks(RECOVERY_LIMIT + 1, 10, on_unknown=on_unknown))
    assert (await world.store.evict("w1")).more
    for _ in range(2):
        assert await world.settle(started[-1], actual=7) is Write.STALE
    assert (await world.ledger()).late == 7
    assert not (await world.store.evict("w1")).more
    await world.settle(started[-1], actual=7)
    ledger = await world.ledger()
    known = 10 * RECOVERY_LIMIT if on_unknown == "fail" else 0
    assert (ledger.held, ledger.spent, ledger.late) == (0, known, 7)


@pytest.mark.parametrize("outcome", list(Outcome))
async def test_an_attempt_that_was_settled_in_time_is_not_booked_again_when_its_worker_is_lost(
    world: World, outcome: Outcome
) -> None:
    started = await lost_attempt(world)
    await world.settle(started, outcome, 70)
    await world.store.evict("w1")
    async with unchanged(world.store, clock=True):
        assert await world.settle(started, outcome, 70) is Write.STALE
    await world.dispatch(1, "w2")
    async with unchanged(world.store, clock=True):
        assert await world.settle(started, outcome, 70) is Write.STALE
    assert (await world.ledger()).spent_total == 70


async def test_no_usage_and_no_record_book_nothing(world: World) -> None:
    started = await lost_attempt(world)
    await world.store.evict("w1")
    unknown = StartedTask(task("never").ref, 1, 100, b"", 0, None)
    from_the_future = StartedTask(started.ref, 99, 100, b"", 0, None)
    async with unchanged(world.store, clock=True):
        for attempt, actual in ((started, 0), (unknown, 50), (from_the_future, 50)):
            assert await world.settle(attempt, actual=actual) is Write.STALE
        assert await world.settle(started, worker="stranger") is Write.STALE


async def test_it_counts_in_the_period_in_which_it_is_reported(world: World) -> None:
    await world.ready(tenant={"budget": budget(100, period_ms=1000)}, lease_ms=3_600_000)
    (started,) = await world.active(task("t"))
    await world.store.evict("w1")
    world.now += 1000
    await world.settle(started, actual=30)
    ledger = await world.ledger()
    assert (ledger.late, ledger.remaining) == (30, 70)
    world.now += 1000
    ledger = await world.ledger()
    assert (ledger.late, ledger.remaining, ledger.spent_total) == (0, 100, 30)


async def test_an_old_attempt_is_never_booked_to_a_newer_task_of_its_id(world: World) -> None:
    """The record has expired, and the id is used again while the first worker repeats its report."""
    await world.ready(tenant={"budget": budget(1000)}, idempotency_ms=0)
    await world.worker("w2")
    (first,) = await world.active(task("t"))
    await world.settle(first, actual=100)
    await command(world.store, "DEL", world.store.keys.key("task", "a", "t"))  # past its retention
    (second,) = await world.active(task("t"), worker="w2")
    assert await world.settle(first, actual=100) is Write.STALE
    assert await world.settle(second, actual=100, worker="w2") is Write.DONE
    assert await world.settle(first, actual=100) is Write.STALE
    ledger = await world.ledger()
    assert (ledger.spent, ledger.late, ledger.spent_total) == (200, 0, 200)
