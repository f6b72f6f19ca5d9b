"""submit: each task once, by its own id; a refusal leaves nothing behind."""

from fairlane.domain.events import EndRow, PendingRow
from fairlane.domain.limits import PRIORITY_STEP
from fairlane.domain.policy import QueuePolicy
from fairlane.domain.task import OnUnknown, TaskState
from fairlane.store.messages import Submission, SubmitStatus
from tests.support.store_dump import unchanged
from tests.support.store_packed import poke
from tests.support.store_raw import command
from tests.support.store_world import START_MS, World, task, tasks


async def refuse(world: World, *submissions: Submission) -> list[tuple[SubmitStatus, int]]:
    """Submit tasks that must change nothing; return the answers."""
    async with unchanged(world.store, clock=True):
        world.now += 5
        answers = await world.store.submit(submissions, "c")
    return [(answer.status, answer.limit) for answer in answers]


async def test_an_accepted_task_waits_with_all_its_fields(world: World) -> None:
    await world.ready()
    await world.submit(task("t", 70, priority=3, deadline_ms=900, on_unknown=OnUnknown.FAIL, payload=b"j[1]"))
    view = await world.view("t")
    assert (view.state, view.cost, view.priority, view.submitted_ms) == (TaskState.PENDING, 70, 3, START_MS)
    assert (view.fence, view.actual, view.result) == (0, None, None)
    assert await world.rows("pending") == [PendingRow("a", "t", 70, 3)]
    tenant = await world.tenant_view()
    assert (tenant.queued, tenant.in_calendar, tenant.parked) == (1, True, None)
    await world.dispatch()
    (started,) = await world.start()
    assert (started.payload, started.deadline_ms) == (b"j[1]", 900)


async def test_the_same_task_again_finds_the_first_one(world: World) -> None:
    await world.ready()
    await world.submit(task("t"))
    assert await refuse(world, task("t")) == [(SubmitStatus.EXISTING, 0)]
    await world.dispatch()
    (started,) = await world.start()
    (answer,) = await world.store.submit([task("t")], "c")
    assert (answer.status, answer.state) == (SubmitStatus.EXISTING, TaskState.ACTIVE)
    await world.settle(started)
    (answer,) = await world.store.submit([task("t")], "c")
    assert (answer.status, answer.state) == (SubmitStatus.EXISTING, TaskState.COMPLETED)
    assert (await world.pool_view()).live == 0


async def test_a_client_that_submits_again_becomes_the_one_that_is_notified(world: World) -> None:
    await world.ready()
    await world.submit(task("t"), client="first")
    (answer,) = await world.store.submit([task("t")], "second")
    assert answer.status is SubmitStatus.EXISTING
    await world.drain()
    assert (await world.store.collect("first", "0")).tasks == ()
    assert [view.ref.id for view in (await world.store.collect("second", "0")).tasks] == ["t"]


async def test_the_same_id_for_another_task_is_a_conflict(world: World) -> None:
    await world.ready()
    await world.tenant("b")
    await world.submit(task("t"))
    assert (
        await refuse(world, task("t", 101), task("t", priority=1), task("t", payload=b"j[]"))
        == [(SubmitStatus.CONFLICT, 0)] * 3
    )
    await world.submit(task("t", 5, tenant="b"))  # another tenant's id is its own
    assert (await world.view("t", "b")).cost == 5


async def test_an_unknown_tenant_is_never_created(world: World) -> None:
    await world.ready()
    assert await refuse(world, task("t", tenant="nobody")) == [(SubmitStatus.UNKNOWN_TENANT, 0)]


async def test_the_queue_bound_counts_waiting_and_not_running_tasks(world: World) -> None:
    await world.ready(tenant={"queue_limit": 2})
    (running,) = await world.active(task("r"))
    await world.submit(*tasks(2))
    assert await refuse(world, task("more")) == [(SubmitStatus.QUEUE_FULL, 2)]
    await world.settle(running)
    assert await refuse(world, task("more")) == [(SubmitStatus.QUEUE_FULL, 2)]
    await world.dispatch(1)
    await world.submit(task("more"))


async def test_tasks_in_their_own_pause_count_against_the_queue_bound(world: World) -> None:
    await world.ready(tenant={"queue_limit": 1}, throttle_scope="task")
    (running,) = await world.active(task("r"))
    await world.throttle(running, 500)
    assert await refuse(world, task("more")) == [(SubmitStatus.QUEUE_FULL, 1)]


async def test_the_bound_holds_within_one_batch(world: World) -> None:
    await world.ready(tenant={"queue_limit": 2})
    answers = await world.store.submit(tasks(4), "c")
    assert [answer.status.value for answer in answers] == ["accepted", "accepted", "queue_full", "queue_full"]


async def test_a_cost_that_no_ceiling_admits_is_refused_with_the_ceiling(world: World) -> None:
    await world.ready(tenant={"cost_ceiling_units": 500}, cost_ceiling_units=900, quantum_units=1)
    await world.tenant("b")
    ceiling = SubmitStatus.COST_ABOVE_CEILING
    assert await refuse(world, task("t", 501)) == [(ceiling, 500)]
    assert await refuse(world, task("t", 901, tenant="b")) == [(ceiling, 900)]
    assert await refuse(world, task("t", 2**40)) == [(ceiling, 500)]  # the lowest ceiling that it exceeds
    await world.submit(task("t", 500), task("t", 900, tenant="b"))


async def test_a_cost_above_every_ceiling_is_refused_at_once_and_the_rest_of_its_batch_runs(world: World) -> None:
    await world.ready(tenant={"cost_ceiling_units": 500}, cost_ceiling_units=900)
    await world.tenant("b")
    batch = [task("x"), task("huge", 901), task("y"), task("z", tenant="b")]
    answers = await world.store.submit(batch, "c")
    assert [(answer.status.value, answer.limit) for answer in answers] == [
        ("accepted", 0), ("cost_above_ceiling", 500), ("accepted", 0), ("accepted", 0),
    ]  # fmt: skip
    await world.dispatch()
    assert {each.ref for each in await world.start()} == {batch[0].ref, batch[2].ref, batch[3].ref}
    assert await world.store.get([batch[1].ref]) == [None]


async def test_a_cost_above_the_largest_is_refused_whatever_the_quantum(world: World) -> None:
    await world.ready(quantum_units=1)
    assert await refuse(world, task("t", 2**40 + 1)) == [(SubmitStatus.COST_ABOVE_CEILING, 2**40)]
    await world.submit(task("t", 2**40))


async def test_a_closed_pool_accepts_no_new_task_and_still_finds_the_old(world: World) -> None:
    await world.ready()
    await world.submit(task("old"))
    await world.store.admit(open=False)
    assert await refuse(world, task("new"), task("old")) == [(SubmitStatus.CLOSED, 0), (SubmitStatus.EXISTING, 0)]
    assert (await world.pool_view()).closed
    await world.drain()
    assert await world.state("old") is TaskState.COMPLETED
    await world.store.admit(open=True)
    await world.submit(task("new"))


async def test_duplicates_within_one_batch_are_one_task(world: World) -> None:
    await world.ready()
    answers = await world.store.submit([task("t"), task("t"), task("t", 7)], "c")
    assert [answer.status.value for answer in answers] == ["accepted", "existing", "conflict"]
    assert (await world.pool_view()).live == 1


async def test_a_caller_s_own_id_stays_known_after_its_record_is_gone(world: World) -> None:
    await world.ready()
    named = task("named", named_by_caller=True)
    await world.submit(named, task("unnamed"))
    await world.drain()
    for task_id in ("named", "unnamed"):  # as the server does after the retention
        await command(world.store, "DEL", world.store.keys.key("task", "a", task_id))
    (answer,) = await world.store.submit([named], "c")
    assert (answer.status, answer.state) == (SubmitStatus.EXISTING, TaskState.COMPLETED)
    assert await refuse(world, task("named", 7, named_by_caller=True)) == [(SubmitStatus.CONFLICT, 0)]
    await world.submit(task("unnamed"))
    await world.drain()


async def test_a_record_and_its_tombstone_expire_in_time(world: World) -> None:
    await world.ready(retention_ms=40_000, idempotency_ms=20_000)
    await world.submit(task("t", named_by_caller=True))
    await world.drain()
    key = world.store.keys.key
    assert 0 < await command(world.store, "PTTL", key("task", "a", "t")) <= 40_000
    assert 40_000 < await command(world.store, "PTTL", key("tombstone", "a", "t")) <= 60_000
    assert 0 < await command(world.store, "PTTL", key("done", "c")) <= 40_000


async def test_without_idempotency_time_no_tombstone_is_left(world: World) -> None:
    await world.ready(idempotency_ms=0)
    await world.submit(task("t", named_by_caller=True))
    await world.drain()
    assert await world.key_type("tombstone", "a", "t") == "none"


async def test_a_deadline_counts_from_admission_by_the_store_s_clock(world: World) -> None:
    await world.ready()
    await world.submit(task("t", deadline_ms=1000))
    world.now += 999
    await world.dispatch(0)
    assert await world.state("t") is TaskState.PENDING
    world.now += 1
    await world.dispatch(0)
    assert await world.state("t") is TaskState.EXPIRED
    assert await world.rows("expired") == [EndRow("expired", "a", "t", 0, 0, 0, 1000, "expired", 0)]


async def test_priorities_order_one_tenant_s_tasks_and_arrival_breaks_ties(world: World) -> None:
    await world.ready(quantum_units=100_000)
    await world.submit(task("late", priority=200), task("first", priority=7), task("second", priority=7))
    await world.submit(task("urgent", priority=0))
    await world.dispatch()
    assert [started.ref.id for started in await world.start()] == ["urgent", "first", "second", "late"]


async def test_fifo_ignores_priority(world: World) -> None:
    await world.ready(policy=QueuePolicy.FIFO)
    await world.tenant("b")
    await world.submit(task("1", priority=200), task("2", priority=0), task("3", tenant="b", priority=100))
    await world.dispatch()
    assert [started.ref.id for started in await world.start()] == ["1", "2", "3"]


async def test_the_largest_priority_and_many_arrivals_stay_exact(world: World) -> None:
    await world.ready()
    await poke(world.store, "pool", sequence=PRIORITY_STEP - 4)
    await world.submit(task("x", priority=255), task("y", priority=255))
    queue = (await world.store.stored()).pending["a"]
    assert sorted(queue.values()) == [256 * PRIORITY_STEP - 3, 256 * PRIORITY_STEP - 1]


async def test_a_batch_of_refusals_and_tasks_keeps_its_order(world: World) -> None:
    await world.ready()
    answers = await world.store.submit([task("x", tenant="nobody"), task("t"), task("t", 3), task("u")], "c")
    assert [answer.status.value for answer in answers] == ["unknown_tenant", "accepted", "conflict", "accepted"]
