"""cancel: a waiting task ends at once, a running one through its worker."""

from fairlane.domain.attempt import Outcome
from fairlane.domain.events import EndRow
from fairlane.domain.task import TaskRef, TaskState
from fairlane.store.messages import CancelStatus, Write
from tests.support.store_dump import unchanged
from tests.support.store_raw import command
from tests.support.store_world import World, task, tasks


async def test_a_pending_task_ends_at_once(world: World) -> None:
    await world.ready()
    await world.submit(task("t", deadline_ms=500), task("u"))
    assert await world.store.cancel([TaskRef("a", "t")]) == [CancelStatus.CANCELLED]
    assert await world.state("t") is TaskState.CANCELLED
    assert await world.rows("cancelled") == [EndRow("cancelled", "a", "t", 0, 0, 0, 1000, "cancelled", 0)]
    assert [view.ref.id for view in (await world.store.collect("c", "0")).tasks] == ["t"]
    assert (await world.dispatch()).placed == 1


async def test_a_waiting_task_ends_at_once(world: World) -> None:
    await world.ready()
    (started,) = await world.active(task("t"))
    await world.settle(started, Outcome.FAILED, backoff_ms=1000)
    assert await world.store.cancel([started.ref]) == [CancelStatus.CANCELLED]
    world.now += 1000
    assert (await world.dispatch()).placed == 0
    assert (await world.tenant_view()).waiting == 0


async def test_an_enqueued_task_never_starts(world: World) -> None:
    await world.ready()
    await world.submit(task("t", 70))
    await world.dispatch()
    assert await world.store.cancel([TaskRef("a", "t")]) == [CancelStatus.CANCELLED]
    assert await world.start() == []
    pool = await world.pool_view()
    assert (pool.slots, pool.cost, pool.live) == (0, 0, 0)


async def test_an_active_task_is_stopped_by_its_worker_and_its_usage_is_settled(world: World) -> None:
    await world.ready()
    (started,) = await world.active(task("t"))
    assert await world.store.cancel([started.ref]) == [CancelStatus.STOPPING]
    assert await world.state("t") is TaskState.ACTIVE
    async with unchanged(world.store, clock=True):
        assert await world.store.cancel([started.ref]) == [CancelStatus.STOPPING]
    assert (await world.store.heartbeat("w1")).cancelling == ((started.ref, started.fence),)
    assert await world.settle(started, Outcome.CANCELLED, 35) is Write.DONE
    view = await world.view("t")
    assert (view.state, view.actual) == (TaskState.CANCELLED, 35)
    assert (await world.store.heartbeat("w1")).cancelling == ()


async def test_a_task_that_completes_first_stays_completed(world: World) -> None:
    await world.ready()
    (started,) = await world.active(task("t"))
    await world.store.cancel([started.ref])
    assert await world.settle(started) is Write.DONE
    assert await world.state("t") is TaskState.COMPLETED


async def test_an_ended_or_unknown_task_is_a_value_and_no_change(world: World) -> None:
    await world.ready()
    await world.submit(task("t", named_by_caller=True))
    await world.drain()
    refs = [TaskRef("a", "t"), TaskRef("a", "nothing"), TaskRef("nobody", "t")]
    async with unchanged(world.store, clock=True):
        answers = await world.store.cancel(refs)
    assert answers == [CancelStatus.ENDED, CancelStatus.UNKNOWN, CancelStatus.UNKNOWN]
    await command(world.store, "DEL", world.store.keys.key("task", "a", "t"))
    assert await world.store.cancel(refs[:1]) == [CancelStatus.ENDED]  # its tombstone remembers


async def test_twice_in_one_batch_is_once(world: World) -> None:
    await world.ready()
    await world.submit(task("t"))
    assert await world.store.cancel([TaskRef("a", "t")] * 2) == [CancelStatus.CANCELLED, CancelStatus.ENDED]


async def test_a_cancel_during_recovery_stays_a_cancel(world: World) -> None:
    await world.ready(slots=256)
    await world.pool(slots=256)
    started = await world.active(*tasks(128))
    assert (await world.store.evict("w1")).more  # the lost worker still has 28 of them
    last = started[-1].ref
    assert await world.store.cancel([last]) == [CancelStatus.STOPPING]
    while (await world.store.evict("w1")).more:
        pass
    assert (await world.view(last.id)).state is TaskState.CANCELLED


async def test_hundreds_cancelled_in_every_state_leave_every_counter_at_zero(world: World) -> None:
    await world.ready(slots=40)
    await world.pool(slots=100)
    await world.submit(*tasks(120))
    await world.dispatch(40)
    active = await world.start()
    await world.submit(*tasks(20, first=200))
    for each in active[:20]:
        await world.settle(each, Outcome.FAILED, backoff_ms=50)
    await world.dispatch(20)
    refs = [each.ref for each in tasks(120)] + [each.ref for each in tasks(20, first=200)]
    await world.store.cancel(refs[::2])
    await world.store.cancel(refs[1::2])
    for each in await world.start():
        await world.settle(each, Outcome.CANCELLED, 5)
    pool, tenant = await world.pool_view(), await world.tenant_view()
    assert (pool.live, pool.slots, pool.cost, pool.runnable) == (0, 0, 0, 0)
    assert (tenant.queued, tenant.waiting, tenant.slots, tenant.cost) == (0, 0, 0, 0)
