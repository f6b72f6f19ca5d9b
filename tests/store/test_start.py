"""start: a worker takes the tasks that were handed to it; a lost reply loses nothing."""

from fairlane.domain.events import ActiveRow
from fairlane.domain.task import TaskRef, TaskState
from tests.support.store_dump import unchanged
from tests.support.store_world import World, task, tasks


async def test_it_marks_active_and_hands_over_everything_needed(world: World) -> None:
    await world.ready()
    await world.submit(task("t", 70, payload=b"j7", deadline_ms=500))
    await world.dispatch()
    world.now += 100
    started = await world.store.start("w1", 0)
    (only,) = started.tasks
    assert (only.ref.id, only.fence, only.cost, only.payload) == ("t", 1, 70, b"j7")
    assert (only.failures, only.deadline_ms) == (0, 400)
    assert (started.alive, started.hold_ms, started.more, started.cancelling) == (True, None, False, ())
    view = await world.view("t")
    assert (view.state, view.started_ms) == (TaskState.ACTIVE, world.now)
    assert await world.rows("active") == [ActiveRow("a", "t", 1)]


async def test_from_the_same_cursor_it_answers_the_same_and_changes_nothing(world: World) -> None:
    await world.ready()
    await world.submit(*tasks(3))
    await world.dispatch()
    first = await world.store.start("w1", 0)
    async with unchanged(world.store, clock=True):
        assert await world.store.start("w1", 0) == first
    assert (await world.store.start("w1", 3)).tasks == ()
    assert [each.fence for each in (await world.store.start("w1", 2)).tasks] == [3]


async def test_an_answer_with_a_limit_says_that_there_is_more(world: World) -> None:
    await world.ready()
    await world.submit(*tasks(5))
    await world.dispatch()
    first = await world.store.start("w1", 0, 3)
    assert ([each.fence for each in first.tasks], first.more) == ([1, 2, 3], True)
    assert await world.state("t00004") is TaskState.ENQUEUED
    rest = await world.store.start("w1", 3, 3)
    assert ([each.fence for each in rest.tasks], rest.more) == ([4, 5], False)


async def test_a_settled_task_is_not_handed_out_again(world: World) -> None:
    await world.ready()
    first, _ = await world.active(*tasks(2))
    await world.settle(first)
    assert [each.fence for each in await world.start()] == [2]


async def test_while_paused_nothing_starts_and_running_tasks_are_kept(world: World) -> None:
    await world.ready()
    await world.active(task("running"))
    await world.submit(task("handed"))
    await world.dispatch()
    await world.store.pause(400)
    async with unchanged(world.store, clock=True):
        held = await world.store.start("w1", 0)
    assert [each.ref.id for each in held.tasks] == ["running"]
    assert held.hold_ms == 400
    world.now += 400
    assert [each.ref.id for each in await world.start()] == ["running", "handed"]


async def test_a_task_whose_deadline_has_passed_ends_without_a_call(world: World) -> None:
    await world.ready()
    await world.submit(task("late", 70, deadline_ms=100), task("fine"))
    await world.dispatch()
    world.now += 100
    assert [each.ref.id for each in await world.start()] == ["fine"]
    assert await world.state("late") is TaskState.EXPIRED
    assert (await world.pool_view()).slots == 1
    assert [(row.ref, row.fence) for row in await world.rows("expired")] == [(TaskRef("a", "late"), 1)]
    assert [view.ref.id for view in (await world.store.collect("c", "0")).tasks] == ["late"]


async def test_a_worker_whose_lease_ran_out_starts_nothing_until_it_beats(world: World) -> None:
    await world.ready(lease_ms=1000)
    await world.submit(task("t"))
    await world.dispatch()
    world.now += 1000
    held = await world.store.start("w1", 0)
    assert held.alive
    assert held.tasks == ()
    assert held.hold_ms is not None
    assert await world.state("t") is TaskState.ENQUEUED
    await world.store.heartbeat("w1")
    assert len(await world.start()) == 1


async def test_a_lost_or_unknown_incarnation_gets_nothing(world: World) -> None:
    await world.ready()
    await world.submit(task("t"))
    await world.dispatch()
    await world.store.evict("w1")
    async with unchanged(world.store, clock=True):
        for incarnation in ("w1", "stranger"):
            answer = await world.store.start(incarnation, 0)
            assert (answer.alive, answer.tasks) == (False, ())


async def test_it_names_the_tasks_to_stop(world: World) -> None:
    await world.ready()
    (running,) = await world.active(task("t"))
    await world.store.cancel([running.ref])
    assert (await world.store.start("w1", running.fence)).cancelling == ((running.ref, running.fence),)
    assert (await world.store.heartbeat("w1")).cancelling == ((running.ref, running.fence),)
