"""Cancels, deadlines and throttles, in every state a task can be in."""

import asyncio

import pytest

from fairlane.config import BudgetConfig, PoolConfig, TenantConfig
from fairlane.domain.policy import ThrottleScope
from fairlane.domain.task import OnUnknown, TaskState
from fairlane.errors import TaskCancelled, TaskDead, TaskExpired
from fairlane.lifecycle.handle import TaskHandle
from fairlane.providers.base import Call, Reply, tell_usage
from fairlane.providers.simulated import SimulatedProvider
from fairlane.store.messages import CancelStatus
from tests.lifecycle.harness import TIMEOUT_S, Gate, Harness, until


async def _hand_to_an_idle_worker(pool: Harness) -> None:
    """Register a worker that takes nothing, and place the waiting tasks with it."""
    await pool.store.register("idle", "idle-1", 4)
    assert (await pool.store.dispatch([("idle-1", 4)], 4)).placed > 0


async def test_cancel_while_pending(pool: Harness) -> None:
    await pool.put()
    client = await pool.client()
    handle = await client.submit("acme", {}, cost=1)
    assert await handle.cancel() is CancelStatus.CANCELLED
    with pytest.raises(TaskCancelled):
        await handle.result(10)
    assert await handle.cancel() is CancelStatus.ENDED
    await pool.assert_nothing_held()


async def test_cancel_while_handed_over(pool: Harness) -> None:
    await pool.put()
    client = await pool.client()
    handle = await client.submit("acme", {}, cost=1)
    await _hand_to_an_idle_worker(pool)
    assert await handle.state() is TaskState.ENQUEUED
    assert await handle.cancel() is CancelStatus.CANCELLED
    with pytest.raises(TaskCancelled):
        await handle.result(10)
    await pool.assert_nothing_held()


async def test_cancel_while_running_stops_the_call(pool: Harness) -> None:
    await pool.put()
    await pool.dispatcher()
    gate = Gate()
    await pool.worker(gate)
    client = await pool.client()
    handle = await client.submit("acme", {}, cost=9)
    call = await gate.begun()
    assert await handle.cancel() is CancelStatus.STOPPING
    with pytest.raises(TaskCancelled):
        await handle.result(10)
    assert gate.stopped == [call]
    view = await client.get("acme", handle.ref.id)
    assert view is not None
    assert (view.state, view.actual) == (TaskState.CANCELLED, 0)
    await pool.assert_nothing_held()


async def test_a_stopped_call_may_report_its_usage(pool: Harness) -> None:
    await pool.put()
    await pool.dispatcher()
    await pool.worker(SimulatedProvider())
    client = await pool.client()
    handle = await client.submit("acme", {"ms": 60_000, "partial": 4}, cost=9)

    async def runs() -> bool:
        return await handle.state() is TaskState.ACTIVE

    await until(runs)
    await handle.cancel()
    with pytest.raises(TaskCancelled):
        await handle.result(10)
    view = await client.get("acme", handle.ref.id)
    assert view is not None
    assert view.actual == 4


async def test_cancel_after_the_end_and_of_nothing(pool: Harness) -> None:
    await pool.put()
    await pool.dispatcher()
    await pool.worker(SimulatedProvider())
    client = await pool.client()
    handle = await client.submit("acme", {"echo": 1}, cost=1)
    await handle.result(10)
    assert await handle.cancel() is CancelStatus.ENDED
    assert await handle.result() == 1
    assert await client.cancel("acme", "never-heard-of") is CancelStatus.UNKNOWN


async def test_a_deadline_that_passes_while_queued_ends_the_task_without_a_call(pool: Harness) -> None:
    await pool.put()
    await pool.dispatcher()
    client = await pool.client()
    handle = await client.submit("acme", {}, cost=1, deadline_s=0.03)
    with pytest.raises(TaskExpired):
        await handle.result(10)
    gate = Gate()
    await pool.worker(gate)
    gate.open_to.set()
    await (await client.submit("acme", {}, cost=1)).result(10)
    assert [call.task_id == handle.ref.id for call in gate.calls] == [False]
    await pool.assert_nothing_held()


async def test_a_deadline_ends_a_task_that_a_client_waits_for_while_nobody_dispatches(pool: Harness) -> None:
    await pool.put()
    client = await pool.client()
    handle = await client.submit("acme", {}, cost=1, deadline_s=0.03)
    with pytest.raises(TaskExpired):
        await handle.result(10)
    await pool.assert_nothing_held()


async def test_a_deadline_ends_a_task_that_nobody_waits_for_while_only_the_reaper_runs(pool: Harness) -> None:
    await pool.put()
    client = await pool.client()
    handle = await client.submit("acme", {}, cost=1, deadline_s=0.03)
    await client.close()
    await pool.reaper()

    async def expired() -> bool:
        (view,) = await pool.store.get([handle.ref])
        return view is not None and view.state is TaskState.EXPIRED

    await until(expired)


async def test_a_deadline_that_passes_while_running_stops_the_call(pool: Harness) -> None:
    await pool.put()
    await pool.dispatcher()
    gate = Gate()
    await pool.worker(gate)
    client = await pool.client()
    handle = await client.submit("acme", {}, cost=1, deadline_s=0.2)
    call = await gate.begun()
    assert call.deadline_s is not None
    assert 0 < call.deadline_s <= 0.2
    with pytest.raises(TaskExpired):
        await handle.result(10)
    assert gate.stopped == [call]
    await pool.assert_nothing_held()


async def test_a_throttled_task_keeps_its_place_and_loses_nothing(pool: Harness) -> None:
    await pool.put(PoolConfig(slots=1, throttle_scope=ThrottleScope.POOL))
    client = await pool.client()
    first = await client.submit("acme", {"throttle": 1, "retry_after_ms": 30, "echo": "first"}, cost=5)
    second = await client.submit("acme", {"echo": "second"}, cost=5)
    await pool.dispatcher()
    await pool.worker(SimulatedProvider())
    assert await client.wait_many([first, second], 10) == ["first", "second"]
    view, later = await client.get("acme", first.ref.id), await client.get("acme", second.ref.id)
    assert view is not None
    assert later is not None
    assert (view.throttles, view.failures, view.recoveries) == (1, 0, 0)
    assert view.started_ms <= later.started_ms
    await pool.assert_nothing_held()


async def test_a_throttle_of_the_pool_holds_back_handed_over_tasks(pool: Harness) -> None:
    class Once:
        """Throttles its first call."""

        def __init__(self) -> None:
            self.throttler = SimulatedProvider()
            self.begun_ms: list[int] = []

        async def call(self, call: Call) -> Reply:
            return await self.throttler.call(call)

    await pool.put(PoolConfig(slots=2, throttle_scope=ThrottleScope.POOL), acme=TenantConfig())
    client = await pool.client()
    await pool.dispatcher()
    await pool.worker(Once(), slots=2)
    throttled = await client.submit("acme", {"throttle": 1, "retry_after_ms": 300}, cost=1)

    async def paused() -> bool:
        return (await pool.store.snapshot()).pool.paused_ms > 0

    await until(paused)
    other = await client.submit("acme", {}, cost=1)
    snapshot = await pool.store.snapshot()
    resumes_ms = snapshot.pool.now_ms + snapshot.pool.paused_ms
    await client.wait_many([throttled, other], 10)
    for handle in (throttled, other):
        view = await client.get("acme", handle.ref.id)
        assert view is not None
        assert view.started_ms >= resumes_ms


class Metered:
    """Runs its first call until the worker interrupts it, and reports its usage; later calls complete at once."""

    def __init__(self) -> None:
        self.calls = 0
        self.begun = asyncio.Event()

    async def call(self, call: Call) -> Reply:
        self.calls += 1
        if self.calls > 1:
            return Reply("done", 5)
        self.begun.set()
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError as broken_off:
            tell_usage(broken_off, 7)
            raise
        raise AssertionError


async def _break_off(pool: Harness, provider: Metered, on_unknown: OnUnknown, how: str) -> TaskHandle:
    """Submit a task, and let the worker that runs it stop or lose its lease."""
    await pool.dispatcher()
    worker = await pool.worker(provider, grace_ms=0)
    client = await pool.client()
    handle = await client.submit("acme", {}, cost=9, on_unknown=on_unknown)
    async with asyncio.timeout(TIMEOUT_S):
        await provider.begun.wait()
    if how == "stopped":
        await worker.stop()
        await pool.worker(provider, "w2")
    else:
        await pool.store.evict(worker.role.report().incarnation)
    return handle


@pytest.mark.parametrize(("how", "booked"), [("stopped", (12, 0)), ("lost", (5, 7))])
async def test_a_call_that_its_worker_interrupts_is_not_free(pool: Harness, how: str, booked: tuple[int, int]) -> None:
    await pool.put(acme=TenantConfig(budget=BudgetConfig(limit_units=100)))
    provider = Metered()
    handle = await _break_off(pool, provider, OnUnknown.RETRY, how)
    assert await handle.result(TIMEOUT_S) == "done"

    async def all_booked() -> bool:
        ledger = await pool.store.ledger("acme")
        return ledger is not None and (ledger.spent, ledger.late) == booked

    await until(all_booked)
    assert provider.calls == 2


async def test_a_worker_that_stops_causes_no_repeat_of_a_task_that_must_not_be_repeated(pool: Harness) -> None:
    await pool.put()
    provider = Metered()
    handle = await _break_off(pool, provider, OnUnknown.FAIL, "stopped")
    with pytest.raises(TaskDead, match="its worker stopped while it ran"):
        await handle.result(TIMEOUT_S)
    assert provider.calls == 1
    ledger = await pool.store.ledger("acme")
    assert ledger is not None
    assert ledger.spent_total == 7
