"""A used-up budget stops every path: submit, retry, throttle, release, recovery, a timer."""

from collections.abc import Awaitable, Callable

import pytest

from fairlane.domain.attempt import Outcome
from fairlane.domain.policy import BudgetPolicy, ParkReason, ThrottleScope
from fairlane.domain.task import TaskState
from fairlane.store.messages import StartedTask
from tests.support.store_world import World, budget, task, tasks

LONG_LEASE = 1_000_000
Path = Callable[[World, StartedTask], Awaitable[object]]


async def _submit(world: World, started: StartedTask) -> None:
    await world.submit(task("t"))


async def _urgent(world: World, started: StartedTask) -> None:
    await world.submit(task("t", 1, priority=0))


async def _retry(world: World, started: StartedTask) -> None:
    await world.settle(started, Outcome.FAILED, 100)


async def _retry_later(world: World, started: StartedTask) -> None:
    await world.settle(started, Outcome.FAILED, 100, backoff_ms=50)
    world.now += 50


async def _throttled(world: World, started: StartedTask) -> None:
    await world.throttle(started, 50)
    world.now += 50
    await _spend_what_came_back(world)


async def _throttled_alone(world: World, started: StartedTask) -> None:
    await world.pool(throttle_scope=ThrottleScope.TASK, lease_ms=LONG_LEASE)
    await _throttled(world, started)


async def _released(world: World, started: StartedTask) -> None:
    await world.release(started)
    await _spend_what_came_back(world)


async def _recovered(world: World, started: StartedTask) -> None:
    await world.worker("w2")
    await world.store.evict("w1")
    await world.settle(started, actual=100)


async def _replaced(world: World, started: StartedTask) -> None:
    await world.worker("w2", name="name-w1")
    await world.settle(started, actual=100)


async def _reaped(world: World, started: StartedTask) -> None:
    await world.worker("w2")
    for _ in range(20):
        world.now += 200_000
        await world.store.heartbeat("w2")
        await world.store.reap()
    assert await world.state(started.ref.id) is TaskState.PENDING
    await world.settle(started, actual=100)


async def _resumed(world: World, started: StartedTask) -> None:
    await world.submit(task("t"))
    await world.store.pause(1000)
    await world.store.resume()
    await world.store.set_capacity(50)


async def _spend_what_came_back(world: World) -> None:
    """Lower the budget to the amount spent, so that nothing is left for the task that returned."""
    await world.tenant("a", budget=budget(100, when_exhausted=BudgetPolicy.WAIT))


PATHS: dict[str, Path] = {
    "submit": _submit,
    "a smaller, more urgent task": _urgent,
    "retry after a failure": _retry,
    "retry by its timer": _retry_later,
    "return of a throttled task": _throttled,
    "return of a throttled task by its timer": _throttled_alone,
    "return of a released task": _released,
    "recovery of a lost worker": _recovered,
    "recovery by the worker's next life": _replaced,
    "recovery after a lease": _reaped,
    "resume, and more capacity": _resumed,
}


@pytest.mark.parametrize("path", PATHS)
async def test_nothing_is_placed_when_the_budget_is_used_up(world: World, path: str) -> None:
    await world.ready(tenant={"budget": budget(200)}, lease_ms=LONG_LEASE)
    spent, running = await world.active(*tasks(2))
    await world.settle(spent, actual=100)
    await PATHS[path](world, running)
    for workers in (("w1",), ("w2",), ("w1", "w2")):
        assert (await world.dispatch(64, *workers)).placed == 0
    assert (await world.tenant_view()).parked is ParkReason.BUDGET
    assert (await world.ledger()).remaining == 0
    assert len(await world.rows("enqueued")) == 2


@pytest.mark.parametrize("path", PATHS)
async def test_with_reject_every_path_ends_the_task_with_a_typed_error(world: World, path: str) -> None:
    await world.ready(tenant={"budget": budget(200)}, lease_ms=LONG_LEASE)
    spent, running = await world.active(*tasks(2))
    await world.settle(spent, actual=100)
    await PATHS[path](world, running)
    limit = (await world.ledger()).limit
    assert limit is not None
    await world.tenant("a", budget=budget(limit, when_exhausted=BudgetPolicy.REJECT))
    for workers in (("w1",), ("w2",)):
        assert (await world.dispatch(64, *workers)).placed == 0
    (rejected,) = [row.task for row in await world.rows("rejected")]
    view = await world.view(rejected)
    assert (view.state, view.error_code) == (TaskState.REJECTED, "budget_exhausted")
    assert len(await world.rows("enqueued")) == 2


async def test_a_tenant_without_budget_costs_the_others_nothing(world: World) -> None:
    await world.ready(tenant={"budget": budget(100)})
    await world.tenant("b")
    await world.submit(*tasks(20), *tasks(20, tenant="b"))
    assert (await world.dispatch()).placed == 21
