"""register, heartbeat, drain, evict, reap: a worker's life, and its tasks after its end."""

import pytest

from fairlane.domain.events import LateRow, WorkerRow
from fairlane.domain.policy import WorkerState
from fairlane.domain.task import OnUnknown, TaskState
from fairlane.errors import LeaseLost
from fairlane.store.messages import Write
from fairlane.store.prelude import RECOVERY_LIMIT
from tests.support.store_dump import unchanged
from tests.support.store_world import World, task, tasks

LEASE = 1000
MARGIN = LEASE // 4


async def pass_time(world: World, ms: int) -> None:
    """Let time pass while the server keeps serving other calls."""
    for step in [LEASE // 4] * (ms // (LEASE // 4)) + [ms % (LEASE // 4)]:
        world.now += step
        await world.store.admit(open=True)


async def test_a_registered_worker_is_live_with_a_lease(world: World) -> None:
    await world.pool(lease_ms=LEASE)
    assert await world.store.register("worker-1", "w1", 4) == LEASE
    (worker,) = await world.store.workers()
    assert (worker.incarnation, worker.name, worker.slots, worker.load) == ("w1", "worker-1", 4, 0)
    assert worker.state is WorkerState.LIVE
    assert await world.rows("worker") == [WorkerRow("w1", "worker-1", "live")]


async def test_registering_again_renews_the_lease_and_nothing_else(world: World) -> None:
    await world.ready(lease_ms=LEASE)
    await world.active(task("t"))
    await pass_time(world, 900)
    before = await world.rows("worker")
    await world.worker("w1", slots=64)
    await pass_time(world, 900)
    assert (await world.store.reap()).incarnations == ()
    assert await world.rows("worker") == before
    assert (await world.store.heartbeat("w1")).held == 1


async def test_a_new_incarnation_of_a_name_ends_the_older_at_once(world: World) -> None:
    await world.ready()
    await world.worker("old", name="same", slots=4)
    (started,) = await world.active(task("t"), worker="old")
    await world.worker("new", name="same", slots=4)
    assert await world.settle(started, worker="old") is Write.STALE
    async with unchanged(world.store, clock=True):
        assert await world.settle(started, worker="old") is Write.STALE
        assert not (await world.store.heartbeat("old")).alive
    assert await world.rows("late") == [LateRow("a", "t", started.fence, 100)]
    assert await world.state("t") is TaskState.PENDING
    assert {each.incarnation for each in await world.store.workers()} == {"w1", "new"}
    assert (await world.dispatch(1, "new")).placed == 1


async def test_a_lost_incarnation_cannot_come_back(world: World) -> None:
    await world.ready(slots=256)
    await world.pool(slots=256)
    await world.active(*tasks(RECOVERY_LIMIT + 5))
    assert (await world.store.evict("w1")).more
    async with unchanged(world.store, clock=True):
        with pytest.raises(LeaseLost):
            await world.worker("w1")
    assert not (await world.store.evict("w1")).more


async def test_a_heartbeat_renews_the_lease_and_reports(world: World) -> None:
    await world.ready(lease_ms=LEASE)
    await world.active(*tasks(2))
    await world.submit(*tasks(3, first=10))
    for _ in range(8):
        world.now += LEASE // 2
        beat = await world.store.heartbeat("w1")
        assert (beat.alive, beat.held, beat.runnable, beat.cancelling) == (True, 2, 1, ())
    assert (await world.store.reap()).incarnations == ()


async def test_a_heartbeat_of_a_stranger_changes_nothing(world: World) -> None:
    await world.ready()
    async with unchanged(world.store, clock=True):
        beat = await world.store.heartbeat("stranger")
    assert (beat.alive, beat.held) == (False, 0)


async def test_a_draining_worker_keeps_what_it_has_and_gets_nothing_new(world: World) -> None:
    await world.ready()
    (started,) = await world.active(task("t"))
    fleet = (await world.dispatch()).fleet
    assert await world.store.drain("w1")
    async with unchanged(world.store, clock=True):
        assert await world.store.drain("w1")
    await world.submit(task("u"))
    answer = await world.dispatch()
    assert (answer.placed, answer.fleet) == (0, fleet + 1)
    assert (await world.store.heartbeat("w1")).alive
    assert await world.settle(started) is Write.DONE


async def test_a_stranger_cannot_be_drained(world: World) -> None:
    await world.ready()
    async with unchanged(world.store, clock=True):
        assert not await world.store.drain("stranger")


async def test_an_evicted_worker_s_tasks_go_back_uncharged_if_unstarted(world: World) -> None:
    await world.ready(quantum_units=1000)
    (active,) = await world.active(task("active"))
    await world.submit(task("handed"))
    await world.dispatch()
    answer = await world.store.evict("w1")
    assert (answer.incarnations, answer.tasks, answer.more) == (("w1",), 2, False)
    assert [(row.task, row.state) for row in await world.rows("lost")] == [("active", "pending"), ("handed", "pending")]
    assert ((await world.view("active")).recoveries, (await world.view("handed")).recoveries) == (1, 0)
    pool, tenant = await world.pool_view(), await world.tenant_view()
    assert (pool.slots, pool.cost, tenant.slots, tenant.queued) == (0, 0, 0, 2)
    assert await world.store.workers() == []
    assert await world.settle(active) is Write.STALE
    assert await world.rows("worker") == [WorkerRow("w1", "name-w1", "live"), WorkerRow("w1", "name-w1", "lost")]


async def test_evicting_a_stranger_does_nothing(world: World) -> None:
    await world.ready()
    async with unchanged(world.store):
        answer = await world.store.evict("stranger")
    assert (answer.tasks, answer.more) == (0, False)


async def test_recovery_takes_bounded_steps_by_any_caller(world: World) -> None:
    await world.ready(slots=256, lease_ms=LEASE)
    await world.pool(slots=256, lease_ms=LEASE)
    await world.active(*tasks(2 * RECOVERY_LIMIT + 30))
    first = await world.store.evict("w1")
    assert (first.tasks, first.more) == (RECOVERY_LIMIT, True)
    (worker,) = await world.store.workers()
    assert worker.state is WorkerState.LOST
    second = await world.store.reap()
    assert (second.tasks, second.more) == (RECOVERY_LIMIT, True)
    third = await world.store.evict("w1")
    assert (third.tasks, third.more) == (30, False)
    assert (await world.tenant_view()).queued == 2 * RECOVERY_LIMIT + 30
    assert await world.store.workers() == []


async def test_nothing_is_reaped_before_lease_and_margin_are_over(world: World) -> None:
    await world.ready(lease_ms=LEASE)
    await world.active(task("t"))
    await pass_time(world, LEASE + MARGIN - 1)
    assert (await world.store.reap()).incarnations == ()
    world.now += 1
    answer = await world.store.reap()
    assert (answer.incarnations, answer.tasks) == (("w1",), 1)
    assert answer.next_ms is None
    assert await world.state("t") is TaskState.PENDING


async def test_reap_names_the_time_of_its_next_call_while_workers_live(world: World) -> None:
    await world.ready(lease_ms=LEASE)
    next_ms = (await world.store.reap()).next_ms
    assert next_ms is not None
    assert 0 < next_ms <= LEASE + MARGIN


async def test_a_reaper_alone_reaps_a_dead_worker_in_time(world: World) -> None:
    await world.ready(lease_ms=LEASE)
    await world.active(task("t"))
    died = world.now
    while await world.state("t") is TaskState.ACTIVE:
        assert world.now - died <= 3 * LEASE
        world.now += (await world.store.reap()).next_ms or LEASE


async def test_after_a_silent_server_nothing_is_reaped_for_one_lease(world: World) -> None:
    await world.ready(lease_ms=LEASE)
    await world.active(task("t"))
    world.now += 10 * LEASE  # the server hung, so no heartbeat arrived
    assert (await world.store.reap()).incarnations == ()
    world.now += LEASE // 2
    assert (await world.store.heartbeat("w1")).alive
    await pass_time(world, LEASE // 2)
    assert (await world.store.reap()).incarnations == ()
    assert await world.state("t") is TaskState.ACTIVE


async def test_after_the_grace_time_silent_workers_are_reaped(world: World) -> None:
    await world.ready(lease_ms=LEASE)
    await world.active(task("t"))
    world.now += 10 * LEASE
    await world.store.reap()
    await pass_time(world, LEASE)
    assert (await world.store.reap()).incarnations == ("w1",)


async def test_an_eviction_under_way_continues_during_the_grace_time(world: World) -> None:
    await world.ready(slots=256, lease_ms=LEASE)
    await world.pool(slots=256, lease_ms=LEASE)
    await world.active(*tasks(RECOVERY_LIMIT + 1))
    await world.store.evict("w1")
    world.now += 10 * LEASE
    assert (await world.store.reap()).tasks == 1


async def lose_worker(world: World, number: int) -> None:
    """Let a new worker start all pending tasks, and die."""
    incarnation = f"x{number}"
    await world.worker(incarnation)
    await world.dispatch(64, incarnation)
    assert await world.start(incarnation)
    await world.store.evict(incarnation)


async def test_a_task_that_keeps_losing_workers_is_given_up_with_the_cause(world: World) -> None:
    await world.ready(max_recoveries=3)
    await world.submit(task("t"))
    for number in range(3):
        await lose_worker(world, number)
        assert await world.state("t") is TaskState.PENDING
    await lose_worker(world, 3)
    view = await world.view("t")
    assert (view.state, view.error_code, view.recoveries) == (TaskState.DEAD, "workers_lost", 3)
    assert "4 times" in view.error
    assert [ended.ref.id for ended in (await world.store.collect("c", "0")).tasks] == ["t"]
    assert (await world.pool_view()).live == 0


async def test_losses_before_a_start_do_not_count(world: World) -> None:
    await world.ready(max_recoveries=0)
    await world.submit(task("t"))
    for number in range(3):
        await world.worker(f"x{number}")
        await world.dispatch(1, f"x{number}")
        await world.store.evict(f"x{number}")
    assert (await world.view("t")).recoveries == 0
    await lose_worker(world, 9)
    assert await world.state("t") is TaskState.DEAD


async def test_a_task_that_must_not_be_repeated_dies_at_its_estimate(world: World) -> None:
    await world.ready()
    await world.submit(task("t", 70, on_unknown=OnUnknown.FAIL))
    await lose_worker(world, 1)
    view = await world.view("t")
    assert (view.state, view.error_code, view.actual) == (TaskState.DEAD, "outcome_unknown", 70)


async def test_a_lost_task_that_was_being_cancelled_or_is_late_ends(world: World) -> None:
    await world.ready(lease_ms=100_000)
    cancelled, _ = await world.active(task("cancelled"), task("late", deadline_ms=100))
    await world.store.cancel([cancelled.ref])
    world.now += 100
    await world.store.evict("w1")
    assert await world.state("cancelled") is TaskState.CANCELLED
    assert await world.state("late") is TaskState.EXPIRED


async def test_a_recovered_task_keeps_its_place_and_its_charge_is_not_returned(world: World) -> None:
    await world.ready()
    await world.active(task("t"))
    await world.submit(task("later"))
    before = (await world.tenant_view()).deficit
    await world.store.evict("w1")
    assert (await world.tenant_view()).deficit == before
    await world.worker("w2")
    await world.dispatch(2, "w2")
    assert [each.ref.id for each in await world.start("w2")] == ["t", "later"]
