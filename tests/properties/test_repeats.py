"""Lost replies and lost workers: repeating changes nothing, and every task still ends exactly once."""

import random
from collections import Counter
from dataclasses import replace

import pytest

from fairlane.config import PoolConfig, TenantConfig
from fairlane.domain.attempt import Outcome
from fairlane.domain.events import EndRow, PendingRow
from fairlane.domain.task import TaskRef, TaskState
from fairlane.store.connection import Endpoint
from fairlane.store.messages import Return, Settlement, Submission, Throttle, Write
from fairlane.store.store import Store
from tests.support import world_operations as ops
from tests.support.world_model import ENQUEUED
from tests.support.world_repeats import StutteringTwin
from tests.support.world_twin import Twin

WORKERS_DIE = (*ops.BUSY, *[ops.LoseWorker] * 10)


async def open_up(twin: Twin) -> None:
    """Remove everything that holds tasks back: no pause, no pool ceiling, and slots for all."""
    await twin.step(ops.Resume())
    await twin.step(ops.SetPoolCeiling(0))
    await twin.step(ops.SetCapacity(64))


async def lose_again_and_again(twin: Twin) -> None:
    """Lose the same tasks' workers until they are given up."""
    await twin.step(ops.Submit(((0, 1, 0),) * 4))
    for _ in range(8):
        await twin.step(ops.Dispatch(64, (64, 0)))
        await twin.step(ops.Start(0))
        await twin.step(ops.LoseWorker(0, by_name=False))


async def drain(twin: Twin) -> None:
    """Run every task to its end."""
    while twin.reference.tasks:
        await twin.step(ops.Advance(100))
        await twin.step(ops.Dispatch(64, (64, 64)))
        for worker in (0, 1):
            await twin.step(ops.Start(worker))
        await twin.step(ops.Complete(((0, 1000),) * 64))


async def test_a_repeated_call_changes_nothing(endpoint: Endpoint, name: str, seed: int) -> None:
    """After every operation the state is as if each call had been sent once."""
    source = random.Random(f"{seed}/repeats")
    setup = ops.Setup(1000, tuple(ops.draw_limits(source) for _ in range(4)))
    async with StutteringTwin(endpoint, name, setup, source) as twin:
        await twin.run(ops.draw_phases(source, 800))
        assert twin.repeated > 500


@pytest.mark.parametrize("quantum", [10, 10_000])
async def test_every_task_ends_exactly_once_whichever_workers_die(
    endpoint: Endpoint, name: str, seed: int, quantum: int
) -> None:
    source = random.Random(f"{seed}/{quantum}/deaths")
    setup = ops.Setup(quantum, tuple(ops.draw_limits(source) for _ in range(4)))
    async with StutteringTwin(endpoint, name, setup, source) as twin:
        for _ in range(800):
            await twin.step(ops.draw_operation(source, WORKERS_DIE))
        await open_up(twin)
        await lose_again_and_again(twin)
        await drain(twin)

        ended: Counter[TaskRef] = Counter()
        submitted = 0
        cursor = "0"
        while events := await twin.store.events(cursor):
            cursor = events[-1].stream_id
            for row in (row for event in events for row in event.rows):
                submitted += isinstance(row, PendingRow)
                if isinstance(row, EndRow) and row.state.ended:
                    ended[row.ref] += 1
        assert submitted == len(ended) > 50
        assert set(ended.values()) == {1}, "a task ended twice"
        states = [view.state for view in await twin.store.get(list(twin.reference.ended)) if view]
        assert len(states) == submitted
        assert all(state.ended for state in states)
        assert TaskState.DEAD in states, "some tasks must have been given up"

        snapshot = await twin.store.snapshot()
        assert (snapshot.pool.live, snapshot.pool.slots, snapshot.pool.cost, snapshot.pool.runnable) == (0, 0, 0, 0)
        for tenant in snapshot.tenants:
            assert (tenant.slots, tenant.cost, tenant.queued, tenant.waiting) == (0, 0, 0, 0)
        assert {worker.load for worker in await twin.store.workers()} == {0}


async def test_a_lost_worker_can_no_longer_change_anything(endpoint: Endpoint, name: str) -> None:
    """Its task runs on another worker, and every report of the lost worker about either attempt is stale."""
    async with Twin(endpoint, name, ops.Setup(1000, (ops.Limits(),))) as twin:
        await twin.step(ops.Submit(((0, 10, 100),)))
        await twin.step(ops.Dispatch(1, (1, 0)))
        await twin.step(ops.Start(0))
        (task,) = twin.reference.tasks.values()
        lost, first = task.incarnation, Return(task.ref, task.fence)
        await twin.step(ops.LoseWorker(0, by_name=False))
        await twin.step(ops.Dispatch(1, (0, 1)))
        assert task.state == ENQUEUED
        before = await twin.store.snapshot()
        for attempt in (first, Return(task.ref, task.fence)):
            assert await twin.store.release(lost, [attempt]) == [Write.STALE]
        assert not (await twin.store.start(lost, 0)).alive
        after = await twin.store.snapshot()
        assert (after.pool.events, after.tenants) == (before.pool.events, before.tenants)
        await twin.step(ops.Start(1))
        await twin.step(ops.Complete(((0, 1000),)))
        assert [view.state for view in await twin.store.get([task.ref]) if view] == [TaskState.COMPLETED]


async def test_a_worker_in_recovery_can_only_change_late_usage(store: Store) -> None:
    """Recovery takes several steps; after the first the worker no longer owns the tasks that it still seems to have."""
    held = 150
    await store.put_pool(PoolConfig(slots=held))
    await store.put_tenants({"t": TenantConfig()})
    await store.register("w", "w-1", held)
    batch = [Submission(TaskRef("t", str(i)), 1, b"", bytes(32)) for i in range(held)]
    await store.submit(batch, "c")
    await store.dispatch([("w-1", held)], held)
    started = (await store.start("w-1", 0)).tasks
    assert len(started) == held
    first = await store.evict("w-1")
    assert first.more
    before = await store.snapshot()
    assert before.pool.slots == held - first.tasks > 0
    ends = [Settlement(task.ref, task.fence, Outcome.COMPLETED, 1) for task in started]
    for _ in range(3):
        assert await store.settle("w-1", ends) == [Write.STALE] * held
    assert await store.throttle("w-1", [Throttle(task.ref, task.fence, 0) for task in started]) == [Write.STALE] * held
    assert await store.release("w-1", [Return(task.ref, task.fence) for task in started]) == [Write.STALE] * held
    after = await store.snapshot()
    assert after.pool.events == before.pool.events + 1
    (tenant,), (was,) = after.tenants, before.tenants
    ledger = replace(tenant.ledger, late=was.ledger.late, spent_total=was.ledger.spent_total)
    assert replace(tenant, ledger=ledger) == was
    assert not (await store.evict("w-1")).more
    ledger = await store.ledger("t")
    assert ledger is not None
    assert (ledger.held, ledger.spent, ledger.late) == (0, 0, held)
    (tenant,) = (await store.snapshot()).tenants
    assert (tenant.slots, tenant.cost, tenant.queued) == (0, 0, held)
