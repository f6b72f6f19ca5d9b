"""A submit while nothing waits: it places its tasks at once, where the dispatcher planned the next ones."""

from typing import Any

import pytest

from fairlane.domain.events import kind_of
from fairlane.domain.policy import StopReason
from fairlane.domain.task import TaskState
from fairlane.store.keys import DISPATCHER_BELL, worker_bell
from fairlane.store.messages import Dispatched, SubmitStatus
from tests.support.store_dump import unchanged
from tests.support.store_raw import command
from tests.support.store_world import World, budget, task, tasks

PLAN = [("w1", 1), ("w2", 1), ("w1", 1), ("w2", 2)]


async def planned(world: World, keep: int = 5, **settings: Any) -> Dispatched:
    """Register two workers and keep places of the plan."""
    await world.ready(**settings)
    await world.worker("w2")
    answer = await world.store.dispatch(PLAN, 64, keep)
    await command(world.store, "DEL", *(world.store.keys.bell(each) for each in (DISPATCHER_BELL, "w1", "w2")))
    return answer


async def placed(world: World) -> list[tuple[str, str]]:
    """Return each placed task and its worker, in order."""
    return [(row.task, row.incarnation) for row in await world.rows("enqueued")]


async def rung(world: World, sleeper: str) -> bool:
    return bool(await command(world.store, "DEL", world.store.keys.bell(sleeper)))


async def test_its_tasks_go_where_the_plan_says_in_the_same_step_and_wake_only_their_workers(world: World) -> None:
    answer = await planned(world)
    assert (answer.placed, answer.stop, answer.unused, answer.kept) == (0, StopReason.EMPTY, 0, 5)
    await world.submit(task("t1"))
    assert [kind_of(row) for row in (await world.events())[-1].rows] == ["pending", "enqueued"]
    assert [await rung(world, each) for each in (worker_bell("w1"), worker_bell("w2"), DISPATCHER_BELL)] == [1, 0, 0]
    await world.submit(task("t2"))
    await world.submit(*tasks(3))
    assert await placed(world) == [("t1", "w1"), ("t2", "w2"), ("t00000", "w1"), ("t00001", "w2"), ("t00002", "w2")]
    assert [each.ref.id for each in await world.start("w2")] == ["t2", "t00001", "t00002"]
    assert (await world.store.dispatch(PLAN, 64)).unused == 0


async def test_a_repeated_submit_places_nothing_twice(world: World) -> None:
    await planned(world)
    await world.submit(task("t1"))
    async with unchanged(world.store):
        (answer,) = await world.store.submit([task("t1")], "c")
    assert (answer.status, answer.state) == (SubmitStatus.EXISTING, TaskState.ENQUEUED)


async def test_when_the_next_submits_would_use_the_plan_up_the_dispatcher_is_woken(world: World) -> None:
    await planned(world)
    for number, low in enumerate([False, False, False, True]):
        await world.submit(task(f"t{number}"))
        assert await rung(world, DISPATCHER_BELL) == low


@pytest.mark.parametrize("why", ["more tasks than places", "something waits", "no plan", "rejected beyond its budget"])
async def test_the_dispatcher_places_them_if(world: World, why: str) -> None:
    rejecting = why == "rejected beyond its budget"
    await planned(
        world,
        keep=0 if why == "no plan" else 5,
        tenant={"budget": budget(1000, when_exhausted="reject")} if rejecting else None,
        slots=64,
    )
    if why == "something waits":
        await world.store.pause(50)
        await world.submit(task("first"))
        await world.store.resume()
        await command(world.store, "DEL", world.store.keys.bell(DISPATCHER_BELL))
    await world.submit(*tasks(6 if why == "more tasks than places" else 1))
    assert await placed(world) == []
    assert await rung(world, DISPATCHER_BELL)


@pytest.mark.parametrize("why", ["draining", "lost", "its lease is over", "full"])
async def test_a_planned_worker_gets_no_task_if_it_is(world: World, why: str) -> None:
    await planned(world, lease_ms=1000, slots=1)
    if why == "draining":
        await world.store.drain("w1")
    elif why == "lost":
        await world.store.evict("w1")
    elif why == "its lease is over":
        world.now += 999
        await world.store.heartbeat("w2")
        world.now += 1
    await world.submit(*tasks(4))
    first = [("t00000", "w1")] if why == "full" else []
    assert await placed(world) == [*first, *((f"t0000{len(first) + at}", "w2") for at in range(2))]
    assert await rung(world, DISPATCHER_BELL)
    assert (await world.store.dispatch([("w2", 9)], 64)).placed == 4 - len(first) - 2


async def test_a_paused_pool_and_a_tenant_s_own_limit_hold_as_ever(world: World) -> None:
    await planned(world, tenant={"slots": 1})
    await world.submit(*tasks(2))
    assert await placed(world) == [("t00000", "w1")]
    assert [row.reason for row in await world.rows("parked")] == ["slots"]
    await world.store.pause(50)
    await world.tenant("b")
    await world.submit(task("b", tenant="b"))
    assert len(await placed(world)) == 1


async def test_a_plan_made_in_ignorance_of_what_was_taken_does_not_replace_the_one_before(world: World) -> None:
    await planned(world)
    await world.submit(task("t1"))
    answer = await world.store.dispatch([("w1", 9)], 64, 9, 5)
    assert (answer.unused, answer.kept) == (4, None)
    await world.submit(task("t2"))
    assert await placed(world) == [("t1", "w1"), ("t2", "w2")]
    answer = await world.store.dispatch([("w1", 9)], 64, 9, 3)
    assert (answer.unused, answer.kept) == (3, 9)
    answer = await world.store.dispatch([("w2", 9)], 64, 2)  # of a dispatcher that knows nothing of it
    assert (answer.unused, answer.kept) == (9, 2)
