"""A task that would not survive another lost worker runs alone: a task that kills workers makes no other task fail."""

import pytest

from fairlane.domain.task import TaskState
from fairlane.store.messages import Started, StartedTask, Write
from tests.support.store_dump import unchanged
from tests.support.store_world import World, task, tasks

LEASE_MS = 10_000
A_WHILE_MS = LEASE_MS // 20


async def lost_with_their_workers(world: World, names: list[str], times: int = 2) -> None:
    """Tasks that have lost this many workers, with ``max_recoveries`` = 2."""
    await world.ready(lease_ms=LEASE_MS, max_recoveries=2)
    await world.store.evict("w1")
    await world.submit(*(task(name, 10) for name in names))
    for life in range(times):
        await world.worker(f"lost-{life}")
        assert (await world.dispatch(64, f"lost-{life}")).placed == len(names)
        await world.start(f"lost-{life}")
        await world.store.evict(f"lost-{life}")
    await world.worker("w2")


async def ask(world: World, cursor: int = 0) -> Started:
    return await world.store.start("w2", cursor)


def ids(started: Started | list[StartedTask]) -> list[str]:
    return [each.ref.id for each in (started if isinstance(started, list) else started.tasks)]


async def test_it_begins_when_all_others_have_ended_and_they_when_it_has(world: World) -> None:
    await lost_with_their_workers(world, ["a", "b"])
    (before,) = await world.active(task("before", 10, priority=0), worker="w2")
    assert (await world.dispatch(64, "w2")).placed == 2
    await world.submit(task("after", 10))
    assert (await world.dispatch(64, "w2")).placed == 1
    async with unchanged(world.store, clock=True):
        waits = await ask(world, before.fence)
    assert (waits.tasks, waits.hold_ms, waits.more) == ((), A_WHILE_MS, False)
    await world.settle(before, worker="w2")
    begun = []
    cursor = before.fence
    for name in ("a", "b"):
        answer = await ask(world, cursor)
        assert (ids(answer), answer.hold_ms) == ([name], A_WHILE_MS)
        (alone,) = answer.tasks
        assert (await ask(world, alone.fence)).tasks == ()
        assert ids(await ask(world, cursor)) == [name]
        begun.append(name)
        cursor = alone.fence
        assert await world.settle(alone, worker="w2") is Write.DONE
    (after,) = (await ask(world, cursor)).tasks
    assert after.ref.id == "after"
    await world.settle(after, worker="w2")
    assert begun == ["a", "b"]
    assert {await world.state(name) for name in ("a", "b", "after")} == {TaskState.COMPLETED}


async def test_only_the_task_that_runs_alone_is_dead_when_its_worker_is_lost(world: World) -> None:
    await lost_with_their_workers(world, ["poison", "b", "c"])
    await world.submit(*tasks(3, 10))
    assert (await world.dispatch(64, "w2")).placed == 6
    assert ids(await world.start("w2")) == ["poison"]
    await world.store.evict("w2")
    view = await world.view("poison")
    assert (view.state, view.error_code) == (TaskState.DEAD, "workers_lost")
    assert {await world.state(name) for name in ("b", "c", "t00000", "t00002")} == {TaskState.PENDING}
    assert [(await world.view(name)).recoveries for name in ("b", "c", "t00000")] == [2, 2, 0]


async def test_tasks_that_can_lose_another_worker_run_together(world: World) -> None:
    await lost_with_their_workers(world, ["a", "b"], times=1)
    assert (await world.dispatch(64, "w2")).placed == 2
    assert ids(await world.start("w2")) == ["a", "b"]


async def test_without_recoveries_all_tasks_run_together(world: World) -> None:
    await world.ready(max_recoveries=0)
    assert len(await world.active(*tasks(3, 10))) == 3


@pytest.mark.parametrize("end", ["settled", "returned", "cancelled"])
async def test_the_others_begin_however_it_ends(world: World, end: str) -> None:
    await lost_with_their_workers(world, ["a", "b"])
    await world.dispatch(64, "w2")
    (alone,) = await world.start("w2")
    if end == "settled":
        await world.settle(alone, worker="w2")
    elif end == "returned":
        await world.release(alone, worker="w2")
    else:
        await world.store.cancel([alone.ref])
        await world.release(alone, worker="w2", called=True)
    assert ids(await ask(world, alone.fence)) == ["b"]


async def test_a_task_whose_deadline_has_passed_ends_without_waiting_for_its_turn(world: World) -> None:
    await lost_with_their_workers(world, [])
    await world.submit(task("late", 10, deadline_ms=1000))
    for life in ("x", "y"):
        await world.worker(life)
        await world.dispatch(64, life)
        await world.start(life)
        await world.store.evict(life)
    (running,) = await world.active(task("running", 10, priority=0), worker="w2")
    await world.dispatch(64, "w2")
    world.now += 1000
    assert (await ask(world, running.fence)).tasks == ()
    assert await world.state("late") is TaskState.EXPIRED
