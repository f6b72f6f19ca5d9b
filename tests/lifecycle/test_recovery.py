"""Workers that vanish, stop or come back; two dispatchers; a server that becomes unreachable."""

import asyncio
from collections import Counter

import pytest

from fairlane.config import PoolConfig, TenantConfig
from fairlane.domain.task import OnUnknown, TaskState
from fairlane.embedded.guard import Guard
from fairlane.embedded.server import EmbeddedServer
from fairlane.errors import TaskDead
from fairlane.lifecycle.handle import TaskHandle
from fairlane.lifecycle.submission import TaskSpec
from fairlane.providers.base import Call, Reply
from fairlane.providers.simulated import SimulatedProvider
from fairlane.store.connection import Endpoint
from tests.lifecycle.harness import Gate, Harness, until
from tests.support.store_raw import command


class Counting:
    """Counts its calls per task."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self._provider = SimulatedProvider()

    async def call(self, call: Call) -> Reply:
        self.calls[f"{call.tenant}:{call.task_id}"] += 1
        return await self._provider.call(call)


async def test_the_tasks_of_a_vanished_worker_are_done_by_another(pool: Harness) -> None:
    await pool.put(PoolConfig(lease_ms=300))
    await pool.dispatcher()
    gate = Gate()
    vanishing = await pool.worker(gate, "w1")
    client = await pool.client()
    handles = [await client.submit("acme", {"echo": n}, cost=1) for n in range(5)]
    for _ in handles:
        await gate.begun()
    await vanishing.abandon()
    await pool.worker(SimulatedProvider(), "w2")
    await pool.reaper()
    assert await client.wait_many(handles, 10) == list(range(5))
    view = await client.get("acme", handles[0].ref.id)
    assert view is not None
    assert (view.recoveries, view.failures) == (1, 0)
    await pool.assert_nothing_held()


async def test_a_task_that_must_not_be_repeated_dies_with_its_worker(pool: Harness) -> None:
    await pool.put(PoolConfig(lease_ms=300))
    await pool.dispatcher()
    gate = Gate()
    vanishing = await pool.worker(gate, "w1")
    client = await pool.client()
    handle = await client.submit("acme", {}, cost=7, on_unknown=OnUnknown.FAIL)
    await gate.begun()
    await vanishing.abandon()
    await pool.reaper()
    with pytest.raises(TaskDead):
        await handle.result(10)
    view = await client.get("acme", handle.ref.id)
    assert view is not None
    assert view.actual == 7


async def test_a_worker_that_was_evicted_while_alive_stops_its_calls_and_registers_again(pool: Harness) -> None:
    await pool.put()
    await pool.dispatcher()
    gate = Gate()
    worker = await pool.worker(gate)
    before = worker.role.report().incarnation
    assert before is not None
    client = await pool.client()
    handle = await client.submit("acme", {}, cost=1)
    first = await gate.begun()
    await pool.store.evict(before)
    second = await gate.begun()
    assert gate.stopped == [first]
    assert second.task_id == first.task_id
    assert worker.role.report().incarnation != before
    gate.open_to.set()
    assert await handle.result(10) == handle.ref.id
    await pool.assert_nothing_held()


async def test_a_stopping_worker_finishes_its_running_tasks(pool: Harness) -> None:
    await pool.put()
    await pool.dispatcher()
    gate = Gate()
    worker = await pool.worker(gate, grace_ms=10_000)
    client = await pool.client()
    handle = await client.submit("acme", {}, cost=1)
    await gate.begun()
    worker.signals.request_stop()

    async def drains() -> bool:
        return all(each.state == "draining" for each in await pool.store.workers())

    await until(drains)
    late = await client.submit("acme", {}, cost=1)
    gate.open_to.set()
    await worker.stop()
    assert await handle.result(10) == handle.ref.id
    assert await late.state() is TaskState.PENDING
    assert await pool.store.workers() == []


async def test_a_task_that_outlives_the_grace_time_returns_without_a_failure(pool: Harness) -> None:
    await pool.put()
    await pool.dispatcher()
    gate = Gate()
    worker = await pool.worker(gate, grace_ms=20)
    client = await pool.client()
    handle = await client.submit("acme", {"echo": "by another"}, cost=1)
    await gate.begun()
    await worker.stop()
    assert len(gate.stopped) == 1
    assert await handle.state() is TaskState.PENDING
    await pool.worker(SimulatedProvider(), "w2")
    assert await handle.result(10) == "by another"
    view = await client.get("acme", handle.ref.id)
    assert view is not None
    assert (view.failures, view.recoveries, view.throttles) == (0, 0, 0)


async def test_a_second_stop_ends_the_grace_time_at_once(pool: Harness) -> None:
    await pool.put()
    await pool.dispatcher()
    gate = Gate()
    worker = await pool.worker(gate, grace_ms=3_600_000)
    client = await pool.client()
    handle = await client.submit("acme", {}, cost=1)
    await gate.begun()
    worker.signals.request_stop()
    await asyncio.sleep(0)
    assert not worker.task.done()
    worker.signals.request_stop_now()
    await worker.stop()
    assert await handle.state() is TaskState.PENDING


async def test_a_call_that_cannot_be_stopped_does_not_delay_the_worker_s_stop(pool: Harness) -> None:
    class Stubborn:
        def __init__(self) -> None:
            self.begun = asyncio.Event()
            self.over = asyncio.Event()

        async def call(self, call: Call) -> Reply:
            self.begun.set()
            while not self.over.is_set():
                try:
                    await self.over.wait()
                except asyncio.CancelledError:
                    continue
            return Reply()

    await pool.put()
    await pool.dispatcher()
    provider = Stubborn()
    worker = await pool.worker(provider, grace_ms=0)
    client = await pool.client()
    handle = await client.submit("acme", {}, cost=1)
    await provider.begun.wait()
    await worker.stop()
    assert await handle.state() is TaskState.PENDING
    provider.over.set()


async def test_two_dispatchers_place_nothing_twice(pool: Harness) -> None:
    tenants = {f"t{n}": TenantConfig(weight=n + 1) for n in range(5)}
    await pool.put(PoolConfig(slots=16), **tenants)
    provider = Counting()
    await pool.dispatcher()
    await pool.dispatcher(strategy="round-robin")
    await pool.worker(provider, "w1")
    await pool.worker(provider, "w2")
    client = await pool.client()
    answers = await client.submit_many(TaskSpec(f"t{n % 5}", {"echo": n}, 1 + n % 7) for n in range(1_000))
    handles = [answer for answer in answers if isinstance(answer, TaskHandle)]
    assert await client.wait_many(handles, 30) == list(range(1_000))
    assert set(provider.calls.values()) == {1}
    await pool.assert_nothing_held()


async def test_two_thousand_tasks_of_many_kinds_all_end_and_leave_nothing(pool: Harness) -> None:
    tenants = {
        "plain": TenantConfig(),
        "heavy": TenantConfig(weight=5),
        "narrow": TenantConfig(slots=2),
        "bounded": TenantConfig(cost_ceiling_units=300),
    }
    kinds: list[dict[str, object]] = [
        {"echo": 1},
        {"ms": 1, "actual": 3},
        {"fail": 1},
        {"fail": 99},
        {"throttle": 1, "retry_after_ms": 1},
        {"refuse": True},
        {"ms": 2, "actual": 500},
    ]
    names = list(tenants)
    await pool.put(PoolConfig(slots=24, max_attempts=2), **tenants)
    await pool.dispatcher()
    await pool.worker(SimulatedProvider(), "w1")
    await pool.worker(SimulatedProvider(), "w2")
    await pool.controller(period_ms=10, cooldown_ms=10, clean_ticks=1)
    client = await pool.client()
    answers = await client.submit_many(
        TaskSpec(names[n % 4], kinds[n % 7], 1 + n * 37 % 300, priority=n % 3) for n in range(2_000)
    )
    handles = [answer for answer in answers if isinstance(answer, TaskHandle)]
    assert len(handles) == 2_000
    await asyncio.gather(*(handle.cancel() for handle in handles[1::13]))
    await client.wait_many(handles, 60)
    views = [await client.get(handle.ref.tenant, handle.ref.id) for handle in handles[:50]]
    assert all(view is not None and view.state.ended for view in views)
    await pool.assert_nothing_held()


async def test_a_server_that_dies_and_returns_loses_no_accepted_task(tmp_path, guard: Guard, name: str) -> None:
    with EmbeddedServer(data_dir=tmp_path / "data", guard=guard) as server:
        pool = Harness(Endpoint(server.address.url, call_timeout_ms=2_000), name)
        await pool.put(PoolConfig(lease_ms=2_000))
        await pool.dispatcher()
        await pool.worker(SimulatedProvider(), "w1")
        await pool.worker(SimulatedProvider(), "w2")
        await pool.reaper()
        client = await pool.client()
        answers = await client.submit_many(TaskSpec("acme", {"ms": 20, "echo": n}, 1) for n in range(500))
        handles = [answer for answer in answers if isinstance(answer, TaskHandle)]
        assert len(handles) == 500
        await handles[50].result(10)
        await asyncio.to_thread(server.restart)
        assert await client.wait_many(handles, 30) == list(range(500))
        await pool.assert_nothing_held()
        await pool.close()


async def test_a_worker_cut_off_for_a_lease_stops_its_calls_and_registers_again(pool: Harness) -> None:
    await pool.put(PoolConfig(lease_ms=300))
    await pool.dispatcher()
    await pool.reaper()
    gate = Gate()
    worker = await pool.worker(gate)
    before = worker.role.report().incarnation
    client = await pool.client()
    handle = await client.submit("acme", {}, cost=1)
    first = await gate.begun()
    await command(pool.store, "CLIENT", "PAUSE", 700, "ALL")
    second = await gate.begun()
    assert gate.stopped == [first]
    assert second.task_id == first.task_id
    assert worker.role.report().incarnation != before
    gate.open_to.set()
    assert await handle.result(10) == handle.ref.id
    await pool.assert_nothing_held()


async def test_bells_and_timers_suffice_and_an_idle_scheduler_sends_nothing(pool: Harness) -> None:
    minute = 60_000
    await pool.put(PoolConfig(lease_ms=5 * minute))
    dispatcher = await pool.dispatcher(heartbeat_ms=minute)
    worker = await pool.worker(SimulatedProvider(), heartbeat_ms=minute, backoff_base_ms=30, backoff_cap_ms=30)
    client = await pool.client(heartbeat_ms=minute)
    kinds: list[dict[str, object]] = [{}, {"ms": 5}, {"fail": 1}, {"throttle": 1, "retry_after_ms": 30}]
    for kind in kinds * 3:
        await (await client.submit("acme", {**kind, "echo": 1}, cost=1)).result(5)

    async def scripts_run() -> int:
        stats = await pool.store.info("commandstats")
        return int(stats["cmdstat_evalsha"].split(",")[0].removeprefix("calls="))

    await asyncio.sleep(0.1)
    before = await scripts_run()
    await asyncio.sleep(0.4)
    assert await scripts_run() == before
    await asyncio.gather(dispatcher.abandon(), worker.stop())
