"""settle: the worker that has an attempt ends it once, and the whole hold is freed."""

import pytest

from fairlane.domain.attempt import Outcome
from fairlane.domain.events import EndRow, LateRow, ReadyRow
from fairlane.domain.task import TaskRef, TaskState
from fairlane.store.messages import StartedTask, Write
from tests.support.store_dump import unchanged
from tests.support.store_raw import command
from tests.support.store_world import World, settlement, task, tasks


async def free(world: World) -> bool:
    """Nothing is in flight anywhere."""
    pool, tenant = await world.pool_view(), await world.tenant_view()
    (worker,) = [each for each in await world.store.workers() if each.incarnation == "w1"]
    return (pool.slots, pool.cost, tenant.slots, tenant.cost, worker.load) == (0, 0, 0, 0, 0)


async def test_a_completed_task_keeps_its_result_and_tells_its_client(world: World) -> None:
    await world.ready()
    (started,) = await world.active(task("t", 100, payload=b"j[1]"))
    world.now += 250
    assert await world.settle(started, actual=80, result=b'j{"x":1}') is Write.DONE
    view = await world.view("t")
    assert (view.state, view.actual, view.result) == (TaskState.COMPLETED, 80, b'j{"x":1}')
    assert view.ended_ms - view.started_ms == 250
    (ended,) = (await world.store.collect("c", "0")).tasks
    assert ended == view
    assert await world.rows("completed") == [EndRow("completed", "a", "t", 1, 80, 0, 975, "completed", 0)]
    assert await free(world)
    assert (await world.pool_view()).successes == 1
    assert b"j[1]" not in await command(world.store, "GET", world.store.keys.key("task", "a", "t"))


@pytest.mark.parametrize(
    ("outcome", "state", "event"),
    [
        (Outcome.REFUSED, TaskState.FAILED, "failed"),
        (Outcome.EXPIRED, TaskState.EXPIRED, "expired"),
        (Outcome.CANCELLED, TaskState.CANCELLED, "cancelled"),
    ],
)
async def test_a_final_outcome_ends_the_task_with_its_usage(
    world: World, outcome: Outcome, state: TaskState, event: str
) -> None:
    await world.ready()
    (started,) = await world.active(task("t"))
    assert await world.settle(started, outcome, 30, error_code="why", error="because") is Write.DONE
    view = await world.view("t")
    assert (view.state, view.actual, view.error_code, view.error) == (state, 30, "why", "because")
    assert [(row.end, row.actual, row.state) for row in await world.rows(event)] == [(event, 30, state.value)]
    assert await free(world)


@pytest.mark.parametrize("outcome", list(Outcome))
async def test_the_same_settlement_again_changes_nothing(world: World, outcome: Outcome) -> None:
    await world.ready()
    (started,) = await world.active(task("t"))
    assert await world.settle(started, outcome) is Write.DONE
    async with unchanged(world.store, clock=True):
        assert await world.settle(started, outcome) is Write.REPEATED
        assert await world.settle(started, Outcome.COMPLETED, 1) is Write.REPEATED


async def test_twice_in_one_batch_is_once(world: World) -> None:
    await world.ready()
    (started,) = await world.active(task("t"))
    writes = await world.store.settle("w1", [settlement(started), settlement(started, actual=7)])
    assert writes == [Write.DONE, Write.REPEATED]
    assert (await world.view("t")).actual == 100


async def test_only_the_attempt_s_own_worker_can_settle_it(world: World) -> None:
    await world.ready()
    await world.worker("w2")
    (started,) = await world.active(task("t"))
    wrong_fence = StartedTask(started.ref, started.fence + 1, 100, b"", 0, None)
    unknown = StartedTask(TaskRef("a", "nothing"), 1, 100, b"", 0, None)
    async with unchanged(world.store, clock=True):
        assert await world.settle(started, worker="w2") is Write.STALE
        assert await world.settle(started, worker="stranger") is Write.STALE
        assert await world.settle(wrong_fence) is Write.STALE
        assert await world.settle(unknown) is Write.STALE
    await world.settle(started)
    async with unchanged(world.store, clock=True):
        assert await world.settle(started, worker="w2") is Write.STALE


async def test_a_task_that_was_not_started_cannot_be_settled(world: World) -> None:
    await world.ready()
    await world.submit(task("t"))
    await world.dispatch()
    async with unchanged(world.store, clock=True):
        assert await world.settle(StartedTask(TaskRef("a", "t"), 1, 100, b"", 0, None)) is Write.STALE


async def test_a_lost_worker_s_settlements_are_refused_and_their_usage_is_booked_once(world: World) -> None:
    await world.ready()
    (started,) = await world.active(task("t"))
    await world.store.evict("w1")
    assert await world.settle(started, actual=70) is Write.STALE
    assert await world.rows("late") == [LateRow("a", "t", 1, 70)]
    async with unchanged(world.store, clock=True):
        assert await world.settle(started, actual=70) is Write.STALE
    assert await world.state("t") is TaskState.PENDING


async def test_a_settlement_after_the_lease_is_accepted_while_the_worker_still_owns_the_attempt(world: World) -> None:
    await world.ready(lease_ms=1000)
    (started,) = await world.active(task("t"))
    world.now += 5000
    assert await world.settle(started) is Write.DONE


async def test_a_failed_attempt_waits_its_backoff_and_keeps_its_place(world: World) -> None:
    await world.ready()
    (started,) = await world.active(task("t"))
    await world.submit(task("later"))
    await world.settle(started, Outcome.FAILED, 40, backoff_ms=300, error_code="timeout", error="too slow")
    view = await world.view("t")
    assert (view.state, view.failures, view.error_code) == (TaskState.PENDING, 1, "timeout")
    assert (await world.tenant_view()).waiting == 1
    world.now += 299
    assert (await world.dispatch(1)).placed == 1
    world.now += 1
    await world.submit(task("last"))
    await world.dispatch(2)
    assert [row.task for row in await world.rows("enqueued")] == ["t", "later", "t", "last"]
    assert await world.rows("ready") == [ReadyRow("a", "t")]
    assert [each.failures for each in await world.start() if each.ref.id == "t"] == [1]


async def test_without_backoff_a_failed_attempt_is_back_at_once(world: World) -> None:
    await world.ready()
    (started,) = await world.active(task("t"))
    await world.settle(started, Outcome.FAILED)
    assert (await world.dispatch()).placed == 1


async def test_the_last_allowed_failure_ends_the_task(world: World) -> None:
    await world.ready(max_attempts=2)
    (started,) = await world.active(task("t"))
    await world.settle(started, Outcome.FAILED)
    await world.dispatch()
    (started,) = await world.start()
    await world.settle(started, Outcome.FAILED, 20, error="again", backoff_ms=100)
    view = await world.view("t")
    assert (view.state, view.failures, view.error) == (TaskState.FAILED, 2, "again")
    assert await free(world)
    assert [ended.ref.id for ended in (await world.store.collect("c", "0")).tasks] == ["t"]


async def test_a_backoff_beyond_the_deadline_ends_the_task_at_once(world: World) -> None:
    await world.ready()
    (started,) = await world.active(task("t", deadline_ms=500))
    await world.settle(started, Outcome.FAILED, backoff_ms=500)
    assert await world.state("t") is TaskState.EXPIRED
    assert await free(world)


async def test_failing_is_never_cheaper_than_succeeding(world: World) -> None:
    await world.ready(quantum_units=100)
    await world.tenant("b")
    first, second = await world.active(task("x"), task("y", tenant="b"))
    await world.submit(*tasks(2), *tasks(2, tenant="b"))
    before = (await world.tenant_view("a")).deficit
    await world.settle(first, Outcome.FAILED, 0)
    await world.settle(second, Outcome.COMPLETED, 100)
    assert (await world.tenant_view("a")).deficit == before
    assert (await world.tenant_view("a")).ratio == 1000


async def test_the_ratio_learns_from_actual_costs_within_its_bounds(world: World) -> None:
    await world.ready()
    for number, (actual, ratio) in enumerate([(0, 875), (0, 765), (100, 794), (1000, 1000), (0, 875)]):
        (started,) = await world.active(task(f"t{number}"))
        await world.settle(started, actual=actual)
        assert (await world.tenant_view()).ratio == ratio


async def test_what_a_refund_does_not_give_at_once_pays_later_charges(world: World) -> None:
    await world.ready(quantum_units=10)
    await world.tenant("b")
    (started,) = await world.active(task("t", 10_000))
    await world.submit(task("u", 10), task("v", 10))
    (other,) = await world.active(task("x", 5000, tenant="b"))
    await world.settle(other, actual=5000)
    await world.active(task("y", 5000, tenant="b"))
    assert (await world.pool_view()).virtual_time == 5000
    await world.settle(started, actual=1)
    row = (await world.rows("completed"))[-1]
    tenant = await world.tenant_view()
    assert tenant.deficit == 10 + 4 * 1  # the quantum, and four times the actual cost
    assert row.owed == tenant.owed == 9_999 - (10_000 - 5_000) - tenant.deficit
    await world.dispatch(1)
    row = (await world.rows("enqueued"))[-1]
    assert (row.task, row.charge) == ("u", 9)
    assert (row.deficit, row.owed) == (14 - 2, tenant.owed - 7), "seven eighths of the charge are paid by what is owed"


async def test_an_actual_above_the_estimate_becomes_debt(world: World) -> None:
    await world.ready(quantum_units=100)
    (started,) = await world.active(task("t"))
    await world.settle(started, actual=2**40)
    assert (await world.tenant_view()).deficit <= 0
    await world.submit(task("u"))
    assert (await world.dispatch()).placed == 1


async def test_a_batch_answers_in_the_order_asked(world: World) -> None:
    await world.ready()
    first, second, third = await world.active(*tasks(3))
    await world.settle(second)
    stranger = StartedTask(TaskRef("a", "nothing"), 1, 100, b"", 0, None)
    writes = await world.store.settle("w1", [settlement(each) for each in (third, second, stranger, first)])
    assert writes == [Write.DONE, Write.REPEATED, Write.STALE, Write.DONE]
    assert [ended.ref for ended in (await world.store.collect("c", "0")).tasks] == [second.ref, third.ref, first.ref]


async def test_collect_acknowledges_up_to_its_cursor_and_repeats_above_it(world: World) -> None:
    await world.ready()
    started = await world.active(*tasks(5))
    for each in started:
        await world.settle(each)
    page = await world.store.collect("c", "0", limit=2)
    assert ([view.ref.id for view in page.tasks], page.more) == (["t00000", "t00001"], True)
    assert (await world.store.collect("c", "0", limit=2)).tasks == page.tasks
    rest = await world.store.collect("c", page.cursor, limit=3)
    assert ([view.ref.id for view in rest.tasks], rest.more) == (["t00002", "t00003", "t00004"], False)
    assert (await world.store.collect("c", rest.cursor)).tasks == ()
    assert await command(world.store, "XLEN", world.store.keys.key("done", "c")) == 0
    assert (await world.store.collect("nobody", "0")).tasks == ()


async def test_absurd_usage_counts_as_the_largest_cost_of_a_task(world: World) -> None:
    """Otherwise one tenant's reports could drive virtual time out of the range in which it is exact."""
    await world.ready(quantum_units=1)
    (started,) = await world.active(task("t", 100))
    await world.submit(task("more", 100))
    before = (await world.tenant_view()).deficit
    assert await world.settle(started, actual=2**50) is Write.DONE
    assert (await world.view("t")).actual == 2**50
    after = (await world.tenant_view()).deficit
    assert before - after == 2**40 - 100
