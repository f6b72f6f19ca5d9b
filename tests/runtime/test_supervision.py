"""Workers that die or hang are removed long before their lease ends, and come back."""

import asyncio
import contextlib
import os
import signal
from collections import Counter

import pytest

import fairlane
from fairlane import Scheduler, TaskSpec, TaskState, WorkerHealthConfig, WorkerSupervisorConfig
from fairlane.domain.events import ActiveRow, EndRow, EnqueuedRow, WorkerRow
from fairlane.embedded.processes import wait_until

from .conftest import PROVIDER, gone

pytestmark = [pytest.mark.ray, pytest.mark.fault]

LEASE_MS = 30_000
HUNG = WorkerHealthConfig(interval_ms=100, timeout_ms=300, failure_threshold=3)


@pytest.fixture
def patient(config):
    """The lease is longer than these tests take, so only supervision can take tasks back. Each worker has room for
    all running tasks."""
    pool = config.pool.model_copy(update={"lease_ms": LEASE_MS})
    return config.model_copy(update={"pool": pool, "workers": config.workers.model_copy(update={"slots": 16})})


async def run_calls(scheduler, ms: int, count: int = 8):
    """Submit calls of this duration; return their handles when all of them run."""
    handles = await scheduler.submit_many([TaskSpec("acme", {"echo": i, "ms": ms}, cost=50) for i in range(count)])
    while not all([await handle.state() is TaskState.ACTIVE for handle in handles]):
        await asyncio.sleep(0.01)
    return handles


async def server_ms(scheduler) -> int:
    return (await scheduler.operator.snapshot()).pool.now_ms


async def rows(scheduler):
    """All event rows, each with its time (server ms)."""
    return [(event.at_ms, row) for event in await scheduler.store.events(limit=100_000) for row in event.rows]


async def placements(scheduler) -> list[EnqueuedRow]:
    return [row for _, row in await rows(scheduler) if isinstance(row, EnqueuedRow)]


def moment(history, incarnation: str, state: str) -> int:
    """The time at which an incarnation entered this state (server ms)."""
    return next(
        at for at, row in history if isinstance(row, WorkerRow) and (row.incarnation, row.state) == (incarnation, state)
    )


def states_of(history, incarnation: str) -> list[str]:
    return [row.state for _, row in history if isinstance(row, WorkerRow) and row.incarnation == incarnation]


async def incarnations(scheduler) -> dict[str, str]:
    """The living workers' incarnations, by name."""
    views = await scheduler.operator.workers()
    return {view.name.split("@")[0]: view.incarnation for view in views if view.state == "live"}


async def busiest(scheduler) -> str:
    """The name of the worker with the most tasks."""
    view = max(await scheduler.operator.workers(), key=lambda view: view.load)
    assert view.load > 0
    return view.name.split("@")[0]


async def until_replaced(scheduler, name: str, incarnation: str) -> str:
    async with asyncio.timeout(30):
        while (new := (await incarnations(scheduler)).get(name)) in {None, incarnation}:
            await asyncio.sleep(0.02)
    return new


async def check_that_both_work(scheduler):
    handles = await scheduler.submit_many([TaskSpec("beta", {"echo": i, "ms": 5}, cost=50) for i in range(200)])
    assert await scheduler.wait_many(handles, timeout_s=60) == list(range(200))
    of = {incarnation: name for name, incarnation in (await incarnations(scheduler)).items()}
    refs = {handle.ref.id for handle in handles}
    placed = [row for _, row in await rows(scheduler) if isinstance(row, EnqueuedRow) and row.task in refs]
    assert {of[row.incarnation] for row in placed} == {"worker-1", "worker-2"}
    pool = (await scheduler.operator.snapshot()).pool
    assert (pool.slots, pool.cost) == (0, 0)


async def test_the_tasks_of_a_killed_worker_run_elsewhere_at_once(platform, patient):
    async with Scheduler(patient, PROVIDER, platform=platform) as s:
        handles = await run_calls(s, ms=4_000)
        name, before = await busiest(s), await incarnations(s)
        victim = before.pop(name)
        lost = {row.task for row in await placements(s) if row.incarnation == victim}
        pid = (await s.operator.actor_pids())[name]
        killed_ms = await server_ms(s)
        os.kill(pid, signal.SIGKILL)
        successor = await until_replaced(s, name, victim)
        assert await s.wait_many(handles, timeout_s=60) == list(range(8))

        history = await rows(s)
        evicted_ms = moment(history, victim, "lost")
        live_ms = moment(history, successor, "live")
        again = [(at, row) for at, row in history if isinstance(row, ActiveRow) and row.task in lost and at > killed_ms]
        assert {row.task for _, row in again} == lost
        assert all(at - killed_ms < 2_000 for at, _ in again)
        assert evicted_ms <= live_ms  # it was not the new process's registration that freed them
        assert all(at <= live_ms for at, _ in again)
        placed = [row for row in await placements(s) if row.task in lost]
        assert {row.incarnation for row in placed} == {victim, *before.values()}
        views = [await s.client.get("acme", handle.ref.id) for handle in handles]
        assert {view.ref.id for view in views if view.recoveries == 1} == lost
        assert all(view.recoveries <= 1 and view.failures == 0 for view in views)
        await check_that_both_work(s)


async def test_a_worker_that_hangs_is_evicted_and_its_process_replaced(platform, patient):
    config = patient.model_copy(update={"health": HUNG})
    async with Scheduler(config, PROVIDER, platform=platform) as s:
        handles = await run_calls(s, ms=1_000)
        name = await busiest(s)
        victim, pid = (await incarnations(s))[name], (await s.operator.actor_pids())[name]
        stopped_ms = await server_ms(s)
        os.kill(pid, signal.SIGSTOP)
        try:
            assert await s.wait_many(handles, timeout_s=LEASE_MS / 1000 / 2) == list(range(8))
            taken_out_ms = moment(await rows(s), victim, "lost")
            assert taken_out_ms - stopped_ms >= HUNG.timeout_ms * HUNG.failure_threshold
            await until_replaced(s, name, victim)
            assert await asyncio.to_thread(wait_until, lambda: gone(pid), 10.0)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        assert (await s.operator.actor_pids())[name] != pid
        await check_that_both_work(s)


async def test_a_worker_that_needs_too_many_restarts_is_ended_for_good(platform, patient):
    config = patient.model_copy(update={"supervisor": WorkerSupervisorConfig(max_restarts=0)})
    async with Scheduler(config, PROVIDER, platform=platform) as s:
        handles = await run_calls(s, ms=500)
        os.kill((await s.operator.actor_pids())["worker-1"], signal.SIGKILL)
        assert await s.wait_many(handles, timeout_s=20) == list(range(8))
        async with asyncio.timeout(20):
            while "worker-1" in await s.operator.actor_pids():
                await asyncio.sleep(0.05)
        await s.operator.remove_worker("worker-1")
        assert await s.operator.add_worker() == "worker-3"
        assert (await s.operator.actor_pids()).keys() == {"controller", "dispatcher", "worker-2", "worker-3"}


class Deadly:
    """A provider that kills its worker with every call."""

    async def call(self, call):
        os.kill(os.getpid(), signal.SIGKILL)


async def test_each_death_counts_even_one_during_a_restart(platform, patient):
    pool = patient.pool.model_copy(update={"max_recoveries": 1_000})
    limit = WorkerSupervisorConfig(max_restarts=2, window_ms=600_000)
    config = patient.model_copy(update={"pool": pool, "supervisor": limit})
    async with Scheduler(config, Deadly(), platform=platform) as s:
        handles = await s.submit_many([TaskSpec("acme", i, cost=50) for i in range(2)])
        async with asyncio.timeout(100):
            while (await s.operator.actor_pids()).keys() != {"controller", "dispatcher"}:
                await asyncio.sleep(0.05)
            while await s.operator.workers():  # nothing is left of the last incarnations, long before their lease ends
                await asyncio.sleep(0.05)
        begun = Counter(
            row.name.split("@")[0] for _, row in await rows(s) if isinstance(row, WorkerRow) and row.state == "live"
        )
        assert begun.keys() == {"worker-1", "worker-2"}
        assert all(lives <= 3 for lives in begun.values())
        assert [await handle.state() for handle in handles] == [TaskState.PENDING] * 2
        for handle in handles:
            await s.client.cancel("acme", handle.ref.id)


async def test_the_tasks_of_a_removed_worker_that_hangs_do_not_wait_for_its_lease(platform, patient):
    pool = patient.pool.model_copy(update={"lease_ms": 3 * LEASE_MS})
    async with Scheduler(patient.model_copy(update={"pool": pool}), PROVIDER, platform=platform) as s:
        handles = await run_calls(s, ms=500)
        name = await busiest(s)
        victim, pid = (await incarnations(s))[name], (await s.operator.actor_pids())[name]
        os.kill(pid, signal.SIGSTOP)
        try:
            async with asyncio.timeout(2 * LEASE_MS / 1000):
                await s.operator.remove_worker(name, grace_s=0)
                assert await s.wait_many(handles) == list(range(8))
            assert states_of(await rows(s), victim) == ["live", "lost"]
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


async def test_workers_come_and_go_under_load(platform, patient):
    async with Scheduler(patient, PROVIDER, platform=platform) as s:
        handles, done = [], asyncio.Event()

        async def feed():
            while not done.is_set():
                specs = [TaskSpec(("acme", "beta")[i % 2], {"echo": i, "ms": 20}, cost=50) for i in range(80)]
                batch = await s.submit_many(specs)
                handles.extend(batch)
                assert await s.wait_many(batch, timeout_s=60) == list(range(80))

        feeding = asyncio.create_task(feed())
        assert await s.operator.add_worker() == "worker-3"
        third = (await incarnations(s))["worker-3"]
        async with asyncio.timeout(30):
            while not any(row.incarnation == third for row in await placements(s)):
                await asyncio.sleep(0.05)
        await s.operator.remove_worker("worker-1")
        assert (await s.operator.actor_pids()).keys() == {"controller", "dispatcher", "worker-2", "worker-3"}
        assert (await incarnations(s)).keys() == {"worker-2", "worker-3"}
        done.set()
        await feeding
        views = [await s.client.get(handle.ref.tenant, handle.ref.id) for handle in handles]
        assert {(view.recoveries, view.failures) for view in views} == {(0, 0)}
        pool = (await s.operator.snapshot()).pool
        assert (pool.slots, pool.cost, pool.successes) == (0, 0, len(handles))
        ends = Counter(row.end for _, row in await rows(s) if isinstance(row, EndRow))
        assert ends["completed"] == len(handles)
        assert ends["lost"] == ends["failed"] == 0

        with pytest.raises(fairlane.FairlaneError, match=r"worker-1.*there are: worker-2, worker-3") as unknown:
            await s.operator.remove_worker("worker-1")
        assert unknown.value.code == "worker_not_found"


async def test_a_removed_worker_gets_its_grace_time_and_hands_back_the_rest(platform, patient):
    async with Scheduler(patient, PROVIDER, platform=platform) as s:
        await s.operator.remove_worker("worker-2")
        short, long = await run_calls(s, ms=600, count=1), await run_calls(s, ms=60_000, count=1)
        await s.operator.remove_worker("worker-1", grace_s=3.0)
        assert await s.wait_many(short, timeout_s=5) == [0]
        view = await s.client.get("acme", long[0].ref.id)
        assert (view.state, view.recoveries, view.failures) == (TaskState.PENDING, 0, 0)

        # Without any worker tasks wait, and nothing is refused.
        handle = await s.submit("beta", {"echo": "later"}, cost=5)
        with pytest.raises(fairlane.ResultTimeout):
            await handle.result(timeout_s=0.3)
        assert await s.operator.add_worker() == "worker-3"
        assert await handle.result(timeout_s=30) == "later"
        await s.client.cancel("acme", long[0].ref.id)


async def test_a_worker_that_is_killed_while_it_is_removed_loses_nothing(platform, patient):
    async with Scheduler(patient, PROVIDER, platform=platform) as s:
        handles = await run_calls(s, ms=2_500)
        name = await busiest(s)
        victim, pid = (await incarnations(s))[name], (await s.operator.actor_pids())[name]
        removing = asyncio.create_task(s.operator.remove_worker(name))
        while name in await incarnations(s):
            await asyncio.sleep(0.01)
        assert not removing.done()
        os.kill(pid, signal.SIGKILL)
        async with asyncio.timeout(15):
            await removing
        assert await s.wait_many(handles, timeout_s=15) == list(range(8))
        assert name not in await s.operator.actor_pids()
        assert states_of(await rows(s), victim) == ["live", "draining", "lost"]


async def test_a_worker_that_cannot_start_is_not_added(platform, config, tmp_path, monkeypatch):
    async with Scheduler(config, PROVIDER, platform=platform) as s:
        monkeypatch.setattr(s._parts.actors, "_provider", "no.such:thing")  # as if its module were removed
        with pytest.raises(fairlane.RuntimeStartError, match=r"^worker-3: provider 'no.such:thing' cannot be imported"):
            await s.operator.add_worker()
        assert (await s.operator.actor_pids()).keys() == {"controller", "dispatcher", "worker-1", "worker-2"}
