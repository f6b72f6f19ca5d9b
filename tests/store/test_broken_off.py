"""Interrupted calls: their usage is charged, and a task that must not be repeated is not."""

import pytest

from fairlane.domain.policy import ParkReason
from fairlane.domain.task import OnUnknown, TaskState
from fairlane.store.messages import StartedTask, Write
from tests.support.store_dump import unchanged
from tests.support.store_world import World, budget, task


async def running(world: World, **fields: object) -> StartedTask:
    """Task ``t`` of tenant ``a``, which holds 100 of a budget of 250, active at ``w1``."""
    await world.ready(tenant={"budget": budget(250)}, lease_ms=3_600_000)
    await world.worker("w2")
    (started,) = await world.active(task("t", 100, **fields))
    return started


async def test_usage_is_charged_once_and_the_task_returns_without_a_failure(world: World) -> None:
    started = await running(world)
    assert await world.release(started, called=True, actual=70) is Write.DONE
    ledger = await world.ledger()
    assert (ledger.held, ledger.spent, ledger.late, ledger.spent_total) == (0, 70, 0, 70)
    view = await world.view("t")
    assert (view.state, view.failures, view.recoveries, view.throttles) == (TaskState.PENDING, 0, 0, 0)
    async with unchanged(world.store, clock=True):
        assert await world.release(started, called=True, actual=70) is Write.REPEATED
    await world.dispatch(1, "w2")
    (again,) = await world.start("w2")
    async with unchanged(world.store, clock=True):
        assert await world.release(started, called=True, actual=70) is Write.STALE
    await world.settle(again, actual=100, worker="w2")
    assert (await world.ledger()).spent_total == 170


async def test_a_call_that_is_interrupted_repeatedly_uses_up_the_budget(world: World) -> None:
    started = await running(world)
    for _ in range(2):
        assert await world.release(started, called=True, actual=100) is Write.DONE
        placed = await world.dispatch()
        (started, *_) = await world.start(cursor=started.fence) or [started]
    assert placed.placed == 0
    assert (await world.ledger()).spent == 200
    assert (await world.tenant_view()).parked is ParkReason.BUDGET


async def test_a_call_that_reports_no_usage_costs_nothing(world: World) -> None:
    started = await running(world)
    assert await world.release(started, called=True) is Write.DONE
    assert (await world.ledger()).spent_total == 0
    assert await world.state("t") is TaskState.PENDING


@pytest.mark.parametrize(("actual", "charged"), [(0, 100), (70, 70)])
async def test_a_task_whose_outcome_must_be_known_is_dead_and_charged(world: World, actual: int, charged: int) -> None:
    started = await running(world, on_unknown=OnUnknown.FAIL)
    assert await world.release(started, called=True, actual=actual) is Write.DONE
    view = await world.view("t")
    assert (view.state, view.error_code, view.actual) == (TaskState.DEAD, "outcome_unknown", charged)
    assert (await world.ledger()).spent == charged


async def test_a_task_whose_outcome_must_be_known_returns_if_it_was_not_called(world: World) -> None:
    started = await running(world, on_unknown=OnUnknown.FAIL)
    assert await world.release(started) is Write.DONE
    assert await world.state("t") is TaskState.PENDING


@pytest.mark.parametrize(("end", "state"), [("cancel", TaskState.CANCELLED), ("deadline", TaskState.EXPIRED)])
async def test_a_cancelled_or_expired_task_ends_and_its_usage_is_charged(
    world: World, end: str, state: TaskState
) -> None:
    started = await running(world, deadline_ms=1000)
    if end == "cancel":
        await world.store.cancel([started.ref])
    else:
        world.now += 1000
    assert await world.release(started, called=True, actual=70) is Write.DONE
    view = await world.view("t")
    assert (view.state, view.actual) == (state, 70)
    assert (await world.ledger()).spent == 70


async def test_a_lost_worker_s_release_only_reports_usage(world: World) -> None:
    started = await running(world)
    await world.store.evict("w1")
    for _ in range(2):
        assert await world.release(started, called=True, actual=70) is Write.STALE
    ledger = await world.ledger()
    assert (ledger.spent, ledger.late, ledger.spent_total) == (0, 70, 70)
    assert await world.state("t") is TaskState.PENDING


@pytest.mark.parametrize(
    ("end", "state"),
    [("", TaskState.DEAD), ("cancel", TaskState.CANCELLED), ("deadline", TaskState.EXPIRED)],
)
async def test_a_lost_worker_never_makes_such_a_task_free(world: World, end: str, state: TaskState) -> None:
    started = await running(world, on_unknown=OnUnknown.FAIL, deadline_ms=1000)
    if end == "cancel":
        await world.store.cancel([started.ref])
    elif end == "deadline":
        world.now += 1000
    await world.store.evict("w1")
    view = await world.view("t")
    assert (view.state, view.actual) == (state, 100)
    async with unchanged(world.store, clock=True):
        assert await world.settle(started, actual=70) is Write.STALE
    assert (await world.ledger()).spent_total == 100
