"""throttle and release: the task goes back to its place, nothing is charged, no failure is counted."""

import pytest

from fairlane.domain.attempt import Outcome
from fairlane.domain.events import EndRow, PausedRow, ReadyRow
from fairlane.domain.policy import ParkReason, QueuePolicy, ThrottleScope
from fairlane.domain.task import TaskState
from fairlane.store.messages import Return, Throttle, Write
from tests.support.store_dump import unchanged
from tests.support.store_world import START_MS, World, task, tasks


async def test_a_throttle_pauses_the_pool_as_long_as_the_provider_said(world: World) -> None:
    await world.ready()
    (started,) = await world.active(task("t"))
    await world.submit(task("later"))
    assert await world.throttle(started, 2500) is Write.DONE
    view, pool = await world.view("t"), await world.pool_view()
    assert (view.state, view.throttles, view.failures, view.actual) == (TaskState.PENDING, 1, 0, None)
    assert (pool.paused_ms, pool.throttles, pool.slots, pool.cost) == (2500, 1, 0, 0)
    assert await world.rows("throttled") == [EndRow("throttled", "a", "t", 1, 0, 0, 1000, "pending", 0)]
    assert await world.rows("paused") == [PausedRow(world.now + 2500)]
    world.now += 2499
    assert (await world.dispatch()).placed == 0
    world.now += 1
    await world.dispatch(1)
    assert [each.ref.id for each in await world.start()] == ["t"]  # before its tenant's later tasks


async def test_a_throttle_gives_the_charge_back(world: World) -> None:
    await world.ready(quantum_units=100)
    await world.submit(*tasks(4))
    before = await world.tenant_view()
    await world.dispatch(1)
    (started,) = await world.start()
    during = (await world.tenant_view()).deficit
    await world.throttle(started, 10)
    after = await world.tenant_view()
    assert after.deficit == during + 100
    assert (after.queued, after.slots, after.ratio) == (before.queued, 0, 1000)


async def test_without_a_usable_retry_after_the_default_pause_holds(world: World) -> None:
    await world.ready(default_pause_ms=4321)
    (started,) = await world.active(task("t"))
    await world.throttle(started, None)
    assert (await world.pool_view()).paused_ms == 4321


@pytest.mark.parametrize("scope", list(ThrottleScope))
async def test_a_retry_after_of_zero_waits_twice_as_long_each_time_up_to_the_default_pause(
    world: World, scope: ThrottleScope
) -> None:
    """For the task or for the pool. Otherwise a provider that always answers 429 with 0 would be called without end."""
    await world.ready(throttle_scope=scope, default_pause_ms=100)
    await world.submit(task("t"))
    waits = []
    for _ in range(7):
        assert (await world.dispatch()).placed == 1
        (started,) = await world.start()
        await world.throttle(started, 0)
        answer = await world.dispatch()
        assert answer.placed == 0
        waits.append(answer.wake_ms)
        world.now += answer.wake_ms or 0
    assert waits == [10, 20, 40, 80, 100, 100, 100]


async def test_a_retry_after_of_zero_waits_no_longer_than_the_default_pause(world: World) -> None:
    await world.ready(default_pause_ms=3)
    (started,) = await world.active(task("t"))
    await world.throttle(started, 0)
    assert (await world.pool_view()).paused_ms == 3


@pytest.mark.parametrize("retry_after_ms", [0, 2_500, None])
async def test_the_throttle_of_a_cancelled_task_pauses_the_pool_like_any_other(
    world: World, retry_after_ms: int | None
) -> None:
    await world.ready()
    started, other = await world.active(*tasks(2))
    await world.store.cancel([started.ref])
    await world.throttle(started, retry_after_ms)
    paused_ms = (await world.pool_view()).paused_ms
    await world.throttle(other, retry_after_ms)
    assert paused_ms == (await world.pool_view()).paused_ms > 0
    assert (await world.view("t00000")).state is TaskState.CANCELLED
    assert (await world.dispatch()).placed == 0


async def test_with_task_scope_the_throttle_of_a_cancelled_task_pauses_nothing(world: World) -> None:
    await world.ready(throttle_scope="task")
    (started,) = await world.active(task("t"))
    await world.submit(task("other"))
    await world.store.cancel([started.ref])
    await world.throttle(started, 2_500)
    assert (await world.dispatch()).placed == 1


async def test_the_longest_of_several_pauses_holds(world: World) -> None:
    await world.ready()
    first, second, third = await world.active(*tasks(3))
    writes = await world.store.throttle(
        "w1", [Throttle(each.ref, each.fence, ms) for each, ms in ((first, 100), (second, 900), (third, 300))]
    )
    assert writes == [Write.DONE] * 3
    assert (await world.pool_view()).paused_ms == 900
    assert (await world.pool_view()).throttles == 3


async def test_with_task_scope_only_the_throttled_task_waits(world: World) -> None:
    await world.ready(throttle_scope="task")
    (started,) = await world.active(task("t"))
    await world.submit(task("other"))
    await world.throttle(started, 500)
    tenant = await world.tenant_view()
    assert (tenant.queued, tenant.waiting) == (1, 1)
    assert (await world.pool_view()).paused_ms == 0
    answer = await world.dispatch()
    assert (answer.placed, answer.wake_ms) == (1, 500)
    world.now += 500
    assert (await world.dispatch()).placed == 1
    assert [row.task for row in await world.rows("enqueued")] == ["t", "other", "t"]
    assert await world.rows("ready") == [ReadyRow("a", "t")]


async def test_a_throttled_task_holds_no_slot_of_its_tenant(world: World) -> None:
    await world.ready(tenant={"slots": 1}, throttle_scope="task")
    (started,) = await world.active(task("t"))
    await world.submit(task("next"))
    await world.dispatch()
    assert (await world.tenant_view()).parked is ParkReason.SLOTS
    await world.throttle(started, 1000)
    assert (await world.dispatch()).placed == 1


@pytest.mark.parametrize("policy", [QueuePolicy.WDRR, QueuePolicy.FIFO])
@pytest.mark.parametrize("scope", list(ThrottleScope))
async def test_a_throttled_task_holds_nothing_and_runs_before_every_later_task(
    world: World, scope: ThrottleScope, policy: QueuePolicy
) -> None:
    await world.ready(throttle_scope=scope, policy=policy)
    await world.tenant("b")
    (started,) = await world.active(task("t"))
    world.now += 100
    await world.submit(task("later"), task("other", tenant="b"))
    await world.throttle(started, 500)
    pool, tenant, (worker,) = await world.pool_view(), await world.tenant_view(), await world.store.workers()
    assert (pool.slots, pool.cost, tenant.slots, tenant.cost, worker.load) == (0, 0, 0, 0, 0)
    world.now += 500
    for _ in range(3):
        await world.dispatch(1)
    ids = [each.ref.id for each in await world.start()]
    assert [each for each in ids if each != "other"] == ["t", "later"]
    assert policy is QueuePolicy.WDRR or ids == ["t", "later", "other"]
    assert (await world.view("t")).submitted_ms == START_MS


async def test_a_released_task_returns_to_its_place_without_a_trace(world: World) -> None:
    await world.ready()
    (started,) = await world.active(task("t"))
    await world.submit(task("later"))
    assert await world.release(started) is Write.DONE
    view = await world.view("t")
    assert (view.state, view.failures, view.throttles, view.recoveries) == (TaskState.PENDING, 0, 0, 0)
    assert await world.rows("returned") == [EndRow("returned", "a", "t", 1, 0, 0, 1000, "pending", 0)]
    await world.dispatch()
    assert [(each.ref.id, each.fence) for each in await world.start()] == [("t", 2), ("later", 3)]


async def test_a_task_handed_over_and_not_started_can_be_released(world: World) -> None:
    await world.ready()
    await world.submit(task("t"))
    await world.dispatch()
    assert await world.store.release("w1", [Return(task("t").ref, 1)]) == [Write.DONE]
    assert await world.state("t") is TaskState.PENDING
    assert await world.start() == []


@pytest.mark.parametrize("way", ["throttle", "release"])
async def test_a_repeated_call_changes_nothing(world: World, way: str) -> None:
    await world.ready()
    (started,) = await world.active(task("t"))
    again = (lambda: world.throttle(started, 100)) if way == "throttle" else (lambda: world.release(started))
    assert await again() is Write.DONE
    async with unchanged(world.store, clock=True):
        assert await again() is Write.REPEATED
    world.now += 100
    await world.dispatch()  # another attempt of the same task
    async with unchanged(world.store, clock=True):
        assert await again() is Write.STALE


@pytest.mark.parametrize("way", ["throttle", "release"])
async def test_another_worker_s_attempt_cannot_be_given_back(world: World, way: str) -> None:
    await world.ready()
    await world.worker("w2")
    (started,) = await world.active(task("t"))
    async with unchanged(world.store, clock=True):
        for worker in ("w2", "stranger"):
            if way == "throttle":
                assert await world.throttle(started, 5, worker=worker) is Write.STALE
            else:
                assert await world.release(started, worker=worker) is Write.STALE
    await world.store.evict("w1")
    async with unchanged(world.store, clock=True):
        assert await (world.throttle(started, 5) if way == "throttle" else world.release(started)) is Write.STALE


async def test_an_unstarted_task_cannot_be_throttled(world: World) -> None:
    await world.ready()
    await world.submit(task("t"))
    await world.dispatch()
    async with unchanged(world.store, clock=True):
        assert await world.store.throttle("w1", [Throttle(task("t").ref, 1, 5)]) == [Write.STALE]


@pytest.mark.parametrize("way", ["throttle", "release", "fail"])
async def test_a_cancel_wins_over_every_return(world: World, way: str) -> None:
    await world.ready()
    (started,) = await world.active(task("t"))
    await world.store.cancel([started.ref])
    match way:
        case "throttle":
            await world.throttle(started, 100)
        case "release":
            await world.release(started)
        case _:
            await world.settle(started, Outcome.FAILED)
    assert await world.state("t") is TaskState.CANCELLED
    assert (await world.pool_view()).live == 0


@pytest.mark.parametrize("way", ["throttle", "release"])
async def test_a_task_whose_deadline_passed_while_it_ran_ends_when_it_is_given_back(world: World, way: str) -> None:
    await world.ready(lease_ms=100_000)
    (started,) = await world.active(task("t", deadline_ms=100))
    world.now += 100
    await world.dispatch(0)  # the timer fires, and leaves the running task to its worker
    assert await world.state("t") is TaskState.ACTIVE
    await (world.throttle(started, 50) if way == "throttle" else world.release(started))
    assert await world.state("t") is TaskState.EXPIRED


async def test_a_deadline_ends_a_task_in_its_own_pause(world: World) -> None:
    await world.ready(throttle_scope="task")
    (started,) = await world.active(task("t", deadline_ms=300))
    await world.throttle(started, 1000)
    world.now += 300
    await world.dispatch(0)
    assert await world.state("t") is TaskState.EXPIRED
    assert (await world.tenant_view()).waiting == 0


async def test_pause_and_deadline_due_together_end_the_task_once(world: World) -> None:
    await world.ready(throttle_scope="task")
    (started,) = await world.active(task("t", deadline_ms=300))
    await world.throttle(started, 300)
    world.now += 300
    answer = await world.dispatch()
    assert (answer.placed, await world.state("t")) == (0, TaskState.EXPIRED)
