"""A member leaves: what it runs, who is told, and what becomes of a removal that fails."""

import asyncio
import math

import pytest

from fairlane.config.workers import SupervisorConfig
from fairlane.workers.errors import WorkerError, WorkerErrorCode
from fairlane.workers.executor.manager import Manager
from fairlane.workers.members.events import MemberEvent
from fairlane.workers.members.group import WorkerGroup
from fairlane.workers.members.status import WorkerStatus
from tests.support.virtual_time import VirtualClock, settle, virtual_time
from tests.support.worker_gated import code_of, insist_for
from tests.support.worker_watched import busy, listen
from tests.support.worker_workers import ScriptedWorker, double, started, unattended


async def test_removal_waits_for_what_runs_and_takes_nothing_new() -> None:
    [worker] = await started(ScriptedWorker("a", capacity=2))
    group = WorkerGroup([worker])
    gate = asyncio.Event()
    running = busy(worker, gate)
    await asyncio.sleep(0)
    removal = asyncio.ensure_future(group.remove("a"))
    await asyncio.sleep(0)
    assert (worker.status, group.accepts_tasks(worker.id), "a" in group) == (WorkerStatus.DRAINING, False, True)
    gate.set()
    await removal
    assert running.done()
    assert running.result()
    assert (worker.status, worker.load, len(group)) == (WorkerStatus.STOPPED, 0, 0)


async def test_removal_with_a_grace_time_ends_what_still_runs() -> None:
    [worker] = await started(ScriptedWorker("a"))
    group = WorkerGroup([worker])
    running = busy(worker, asyncio.Event())
    await asyncio.sleep(0)
    await group.remove("a", grace_s=0)
    with pytest.raises(WorkerError) as raised:
        await running
    assert raised.value.code is WorkerErrorCode.WORKER_LOST
    assert len(group) == 0
    await worker.drain()
    assert worker.load == 0


async def test_a_cancelled_removal_leaves_it_draining_and_in_the_pool() -> None:
    [worker] = await started(ScriptedWorker("a"))
    group = WorkerGroup([worker])
    gate = asyncio.Event()
    running = busy(worker, gate)
    await asyncio.sleep(0)
    removal = asyncio.ensure_future(group.remove("a"))
    await asyncio.sleep(0)
    removal.cancel()
    with pytest.raises(asyncio.CancelledError):
        await removal
    assert (worker.status, "a" in group, running.done()) == (WorkerStatus.DRAINING, True, False)
    gate.set()
    await running
    await group.remove("a")
    assert len(group) == 0


async def test_one_that_is_restarted_while_it_leaves_gets_no_task() -> None:
    [worker] = await started(ScriptedWorker("a", capacity=2))
    group = WorkerGroup([worker])
    gate = asyncio.Event()
    running = busy(worker, gate)
    await asyncio.sleep(0)
    removal = asyncio.ensure_future(group.remove("a"))
    await asyncio.sleep(0)
    worker.fail("while it leaves")
    await worker.start()
    assert worker.status is WorkerStatus.READY
    assert not group.accepts_tasks(worker.id)
    assert not group.accepts_tasks(worker.id)
    await removal
    with pytest.raises(WorkerError):
        await running
    assert worker.status is WorkerStatus.STOPPED


async def test_one_that_does_not_stop_cleanly_is_forgotten_all_the_same() -> None:
    [worker] = await started(ScriptedWorker("a"))
    group = WorkerGroup([worker])
    worker.stop_errors.append(OSError("stuck"))
    heard = listen(group)
    with pytest.raises(WorkerError, match="stuck") as raised:
        await group.remove("a")
    assert raised.value.code is WorkerErrorCode.WORKER_STOP_FAILED
    assert len(group) == 0
    assert heard[-1] == "removed a"


async def test_two_removals_at_once_forget_it_once_and_not_its_successor() -> None:
    [worker] = await started(ScriptedWorker("a"))
    group = WorkerGroup([worker])
    heard = listen(group)
    running = busy(worker, asyncio.Event())
    await asyncio.sleep(0)
    patient = asyncio.ensure_future(group.remove("a"))
    await asyncio.sleep(0)
    await group.remove("a", grace_s=0)
    successor = ScriptedWorker("a")
    group.add(successor)
    await patient
    with pytest.raises(WorkerError):
        await running
    assert group.list() == (successor,)
    assert heard.count("removed a") == 1


async def test_one_that_is_started_again_the_moment_it_stops_is_stopped_again() -> None:
    [worker] = await started(ScriptedWorker("a"))
    group = WorkerGroup([worker])
    restarts: list[asyncio.Task[None]] = []

    def restart(event: MemberEvent) -> None:
        if event.after is WorkerStatus.STOPPED and not restarts:
            restarts.append(asyncio.ensure_future(worker.start()))

    group.subscribe(restart)
    await group.remove("a")
    assert (len(group), worker.status) == (0, WorkerStatus.STOPPED)
    await asyncio.wait(restarts)
    assert worker.status is WorkerStatus.STOPPED


@pytest.mark.parametrize("bad", ["5", [1], True, -1, math.nan, math.inf, 10**400], ids=lambda bad: repr(bad)[:9])
async def test_a_grace_time_that_cannot_be_used_changes_nothing(bad: float) -> None:
    [worker] = await started(ScriptedWorker("a"))
    group = WorkerGroup([worker])
    heard = listen(group)
    with pytest.raises(WorkerError, match=r"grace_s = .*: must be a finite number of seconds, 0 or more") as raised:
        await group.remove("a", bad)
    assert raised.value.code is WorkerErrorCode.INVALID_CONFIGURATION
    assert (heard, group.accepts_tasks(worker.id)) == ([], True)


class Unable(ScriptedWorker):
    """Cannot drain."""

    broken = True

    async def drain(self) -> None:
        """See Member."""
        if self.broken:
            raise OSError("unable")
        await super().drain()


async def test_one_whose_drain_raises_stays_in_the_pool_and_takes_tasks_again() -> None:
    [worker] = await started(Unable("a"))
    group = WorkerGroup([worker])
    heard = listen(group)
    with pytest.raises(OSError, match="unable"):
        await group.remove("a")
    assert heard == ["leaving a False>True", "leaving a True>False"]
    assert (group.leaving("a"), group.accepts_tasks(worker.id)) == (False, True)
    worker.broken = False
    await group.remove("a")
    assert (len(group), worker.status) == (0, WorkerStatus.STOPPED)


async def test_one_whose_drain_raises_is_stopped_all_the_same(caplog: pytest.LogCaptureFixture) -> None:
    [worker] = await started(Unable("a"))
    await worker.stop(grace_s=1)
    assert worker.status is WorkerStatus.STOPPED
    assert "worker a failed to drain; stopping it anyway" in caplog.text


async def test_a_removal_that_fails_does_not_end_another() -> None:
    [worker] = await started(Unable("a"))
    worker.broken = False
    group = WorkerGroup([worker])
    gate = asyncio.Event()
    running = busy(worker, gate)
    await asyncio.sleep(0)
    removal = asyncio.ensure_future(group.remove("a"))
    await asyncio.sleep(0)
    worker.broken = True
    heard = listen(group)
    with pytest.raises(OSError, match="unable"):
        await group.remove("a")
    assert (heard, group.leaving("a")) == ([], True)
    worker.broken = False
    gate.set()
    await asyncio.gather(running, removal)
    assert len(group) == 0


@virtual_time
async def test_those_who_wait_are_told_at_once_although_what_runs_keeps_it_in_the_pool() -> None:
    worker = ScriptedWorker("a")
    group = WorkerGroup([worker])
    config = unattended(supervisor=SupervisorConfig(backoff_base_ms=60_000, backoff_cap_ms=60_000))
    async with Manager(group, config, clock=VirtualClock()) as manager:
        lost = asyncio.create_task(manager.assign(insist_for(1000.0), None))
        await settle()
        worker.fail("gone")
        waiting = asyncio.create_task(manager.assign(double, 1))
        await settle()
        assert not waiting.done()
        removal = asyncio.create_task(group.remove("a"))
        for told in (lost, waiting):
            assert await code_of(told) is WorkerErrorCode.NO_WORKERS_AVAILABLE
        assert (worker.load, removal.done()) == (1, False)
        await removal
    assert len(group) == 0
