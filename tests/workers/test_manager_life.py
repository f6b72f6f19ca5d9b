"""A manager's beginning and end, and the workers' lives in between."""

import asyncio

import pytest

from fairlane.config.workers import HealthConfig, SupervisorConfig
from fairlane.workers.errors import WorkerError, WorkerErrorCode
from fairlane.workers.executor.manager import Manager
from fairlane.workers.members.group import WorkerGroup
from fairlane.workers.members.health_report import CheckOutcome, HealthReport
from fairlane.workers.members.status import TaskStatus, WorkerStatus
from tests.support.virtual_time import VirtualClock, now_s, settle, virtual_time
from tests.support.worker_workers import ScriptedWorker, double, managed, new_task, sleep, started, unattended

NONE_LEFT = WorkerErrorCode.NO_WORKERS_AVAILABLE


def _over(group: WorkerGroup[ScriptedWorker], **fields: object) -> Manager:
    return Manager(group, unattended(**fields), clock=VirtualClock())


async def _code(assigned) -> WorkerErrorCode:
    with pytest.raises(WorkerError) as raised:
        await assigned
    return raised.value.code


def _statuses(*workers: ScriptedWorker) -> list[str]:
    return [worker.status.value for worker in workers]


# -- the beginning -------------------------------------------------------------------------------------------


@virtual_time
async def test_it_starts_the_created_all_at_once_and_nobody_else() -> None:
    a, b, running, stopped = (ScriptedWorker(name) for name in ("a", "b", "running", "stopped"))
    await started(running, stopped)
    await stopped.stop()
    a.start_gate, b.start_gate = asyncio.Event(), asyncio.Event()
    manager = managed(a, b, running, stopped)
    entering = asyncio.create_task(manager.__aenter__())
    await settle()
    assert _statuses(a, b) == ["starting", "starting"]
    b.start_gate.set()
    await settle()
    assert not entering.done()
    a.start_gate.set()
    assert await entering is manager
    assert _statuses(a, b, running, stopped) == ["ready", "ready", "ready", "stopped"]
    assert running.starts == 1
    await manager.__aexit__(None, None, None)
    assert _statuses(a, b, running, stopped) == ["stopped"] * 4


@virtual_time
async def test_without_a_supervisor_a_worker_that_does_not_start_stops_all() -> None:
    a, b = ScriptedWorker("a"), ScriptedWorker("b")
    b.start_errors.append(OSError("no room"))
    with pytest.raises(WorkerError, match="no room") as raised:
        async with managed(a, b):
            pass
    assert raised.value.code is WorkerErrorCode.WORKER_START_FAILED
    assert _statuses(a, b) == ["stopped", "stopped"]


@virtual_time
async def test_with_a_supervisor_it_is_started_again_while_tasks_wait(caplog: pytest.LogCaptureFixture) -> None:
    worker = ScriptedWorker("a")
    worker.start_errors += [OSError("no room"), OSError("no room")]
    async with managed(worker, config=unattended(supervisor=SupervisorConfig())) as manager:
        assert worker.status is WorkerStatus.FAILED
        assert "worker a did not start: no room" in caplog.text
        assert await manager.assign(double, 21) == 42
        assert worker.starts == 3


@virtual_time
async def test_entering_that_is_cancelled_stops_what_was_started() -> None:
    a, b = ScriptedWorker("a"), ScriptedWorker("b")
    b.start_gate = asyncio.Event()
    entering = asyncio.create_task(managed(a, b).__aenter__())
    await settle()
    entering.cancel()
    await asyncio.wait([entering])
    assert entering.cancelled()
    assert _statuses(a, b) == ["stopped", "stopped"]


# -- nobody to wait for --------------------------------------------------------------------------------------


@virtual_time
async def test_without_workers_nothing_waits() -> None:
    manager = managed()
    task = new_task(double)
    with pytest.raises(WorkerError, match="the manager is not running"):
        await manager.assign(task, 1)
    assert task.status is TaskStatus.FAILED
    async with manager:
        with pytest.raises(WorkerError, match="the group is empty") as raised:
            await manager.assign(double, 1)
        assert raised.value.code is NONE_LEFT
    assert await _code(manager.assign(double, 1)) is NONE_LEFT


@virtual_time
async def test_stopped_and_given_up_workers_are_not_waited_for() -> None:
    config = unattended(supervisor=SupervisorConfig(max_restarts=0))
    a, b, c = (ScriptedWorker(name) for name in "abc")
    async with managed(a, b, c, config=config) as manager:
        await a.stop()
        await b.stop()
        c.fail("for good")
        await settle()
        with pytest.raises(WorkerError, match="no worker to wait for: 1 failed, 2 stopped"):
            await manager.assign(double, 1)


@virtual_time
async def test_all_who_wait_are_told_when_the_last_worker_is_given_up() -> None:
    worker = ScriptedWorker("a")
    config = unattended(supervisor=SupervisorConfig(max_restarts=2))
    async with managed(worker, config=config) as manager:
        tasks = [new_task(sleep, f"t{n}") for n in range(4)]
        assigned = [asyncio.create_task(manager.assign(task, 60.0)) for task in tasks]
        await settle()
        worker.start_errors += [OSError("no room")] * 9
        worker.fail("gone")
        codes = [await _code(each) for each in assigned]
        assert codes == [NONE_LEFT] * 4
        assert {task.status for task in tasks} == {TaskStatus.FAILED}
        assert worker.starts == 3


@virtual_time
async def test_all_who_wait_are_told_when_the_last_worker_is_removed() -> None:
    group = WorkerGroup([ScriptedWorker("a"), ScriptedWorker("b")])
    async with _over(group) as manager:
        running = [asyncio.create_task(manager.assign(sleep, 5.0)) for _ in range(2)]
        await settle()
        waiting = [asyncio.create_task(manager.assign(double, n)) for n in range(3)]
        await settle()
        removal = asyncio.create_task(group.remove("a"))
        await settle()
        assert not any(each.done() for each in waiting)
        await asyncio.gather(group.remove("b", grace_s=1), return_exceptions=True)
        assert [await _code(each) for each in waiting] == [NONE_LEFT] * 3
        await asyncio.gather(*running, removal, return_exceptions=True)


@virtual_time
async def test_a_removed_worker_that_is_already_stopped_changes_nothing_for_those_who_wait() -> None:
    stopped = ScriptedWorker("stopped")
    group = WorkerGroup([ScriptedWorker("a"), stopped])
    async with _over(group) as manager:
        await stopped.stop()
        blocker = asyncio.create_task(manager.assign(sleep, 5.0))
        await settle()
        waiting = asyncio.create_task(manager.assign(double, 1))
        await settle()
        await group.remove("stopped")
        await settle()
        assert not waiting.done()
        assert (await blocker, await waiting) == (5.0, 2)


@virtual_time
async def test_a_worker_that_comes_back_takes_those_who_wait() -> None:
    worker = ScriptedWorker("a")
    config = unattended(supervisor=SupervisorConfig())
    async with managed(worker, config=config) as manager:
        assigned = [asyncio.create_task(manager.assign(sleep, 1.0)) for _ in range(3)]
        await settle()
        worker.fail("for a moment")
        assert await asyncio.gather(*assigned) == [1.0] * 3


# -- members that come and change ----------------------------------------------------------------------------


@virtual_time
async def test_a_worker_that_is_added_is_started_and_takes_tasks() -> None:
    group: WorkerGroup[ScriptedWorker] = WorkerGroup([ScriptedWorker("a")])
    async with _over(group) as manager:
        blocker = asyncio.create_task(manager.assign(sleep, 60.0))
        await settle()
        waiting = asyncio.create_task(manager.assign(double, 1))
        await settle()
        b = ScriptedWorker("b")
        group.add(b)
        assert await waiting == 2
        assert (now_s(), b.starts) == (0, 1)
        blocker.cancel()
    assert b.status is WorkerStatus.STOPPED


@virtual_time
async def test_a_worker_that_is_added_to_an_empty_pool_is_waited_for() -> None:
    group: WorkerGroup[ScriptedWorker] = WorkerGroup()
    async with _over(group) as manager:
        worker = ScriptedWorker("a")
        worker.start_gate = asyncio.Event()
        group.add(worker)
        waiting = asyncio.create_task(manager.assign(double, 1))
        await settle()
        assert not waiting.done()
        worker.start_gate.set()
        assert await waiting == 2


@virtual_time
async def test_whoever_adds_a_worker_may_also_start_it(caplog: pytest.LogCaptureFixture) -> None:
    group: WorkerGroup[ScriptedWorker] = WorkerGroup()
    async with _over(group) as manager:
        [ready] = await started(ScriptedWorker("ready"))
        group.add(ready)
        worker = ScriptedWorker("a")
        group.add(worker)
        await worker.start()
        assert await manager.assign(double, 1) == 2
    assert (ready.starts, worker.starts, caplog.text) == (1, 1, "")


@virtual_time
async def test_an_added_worker_that_does_not_start_is_not_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    group: WorkerGroup[ScriptedWorker] = WorkerGroup()
    async with _over(group) as manager:
        worker = ScriptedWorker("a")
        worker.start_errors.append(OSError("no room"))
        group.add(worker)
        assert await _code(manager.assign(double, 1)) is NONE_LEFT
    assert "worker a did not start: no room" in caplog.text


@virtual_time
async def test_the_end_stops_an_added_worker_that_still_starts() -> None:
    group: WorkerGroup[ScriptedWorker] = WorkerGroup()
    worker = ScriptedWorker("a")
    worker.start_gate = asyncio.Event()
    async with _over(group) as manager:
        group.add(worker)
        waiting = asyncio.create_task(manager.assign(double, 1))
        await settle()
    assert await _code(waiting) is NONE_LEFT
    assert worker.status is WorkerStatus.STOPPED


@virtual_time
async def test_more_capacity_takes_those_who_wait() -> None:
    group = WorkerGroup([ScriptedWorker("a")])
    async with _over(group) as manager:
        assigned = [asyncio.create_task(manager.assign(sleep, 1.0)) for _ in range(4)]
        await settle()
        group.update("a", capacity=4)
        await asyncio.gather(*assigned)
        assert now_s() == 1


@virtual_time
async def test_a_worker_that_is_not_well_gets_no_task_until_it_is() -> None:
    group = WorkerGroup([ScriptedWorker("a")])

    def report(*, well: bool) -> HealthReport:
        outcome = CheckOutcome.HEALTHY if well else CheckOutcome.ERROR
        return HealthReport("a", outcome, "", 0.0, 0.0, failures=int(not well), successes=int(well), healthy=well)

    async with _over(group) as manager:
        group.record(report(well=False))
        waiting = asyncio.create_task(manager.assign(double, 1))
        await settle()
        assert not waiting.done()
        group.record(report(well=True))
        assert await waiting == 2


@virtual_time
async def test_a_worker_that_fails_its_checks_is_restarted_and_works_again() -> None:
    a, b = ScriptedWorker("a"), ScriptedWorker("b")
    config = unattended(health=HealthConfig(failure_threshold=2), supervisor=SupervisorConfig())
    async with managed(a, b, config=config) as manager:
        a.healthy = False
        tasks = [new_task(sleep, f"t{n}") for n in range(2)]
        assigned = [asyncio.create_task(manager.assign(task, 30.0)) for task in tasks]
        await asyncio.sleep(20)
        assert a.starts > 1
        a.healthy = True
        await asyncio.gather(*assigned)
        for n in range(4):
            assert await manager.assign(double, n) == 2 * n
        assert a.status is WorkerStatus.READY


# -- the end -------------------------------------------------------------------------------------------------


@virtual_time
async def test_the_end_lets_running_tasks_finish_and_refuses_the_others() -> None:
    worker = ScriptedWorker("a")
    async with managed(worker, config=unattended(stop_grace_ms=10_000)) as manager:
        running = asyncio.create_task(manager.assign(sleep, 5.0))
        waiting = asyncio.create_task(manager.assign(double, 1))
        await settle()
    assert (await running, now_s()) == (5.0, 5)
    assert await _code(waiting) is NONE_LEFT
    assert worker.status is WorkerStatus.STOPPED


@virtual_time
async def test_the_end_ends_what_still_runs_after_the_grace_time() -> None:
    worker = ScriptedWorker("a")
    task = new_task(sleep)
    async with managed(worker, config=unattended(stop_grace_ms=1_000)) as manager:
        running = asyncio.create_task(manager.assign(task, 60.0))
        await settle()
    with pytest.raises(WorkerError) as raised:
        await running
    assert raised.value.code is NONE_LEFT
    assert isinstance(raised.value.cause, WorkerError)
    assert raised.value.cause.code is WorkerErrorCode.WORKER_LOST
    assert (now_s(), task.status) == (1, TaskStatus.FAILED)
    await settle()
    assert worker.load == 0


@virtual_time
async def test_one_that_does_not_stop_cleanly_does_not_keep_the_others_from_stopping() -> None:
    a, b = ScriptedWorker("a"), ScriptedWorker("b")
    a.stop_errors.append(OSError("stuck"))
    with pytest.raises(WorkerError, match="stuck") as raised:
        async with managed(a, b):
            pass
    assert raised.value.code is WorkerErrorCode.WORKER_STOP_FAILED
    assert b.status is WorkerStatus.STOPPED


@virtual_time
async def test_an_end_that_is_cancelled_loses_its_grace_time_and_not_its_stops() -> None:
    a, b = ScriptedWorker("a"), ScriptedWorker("b")
    manager = managed(a, b)
    await manager.__aenter__()
    running = asyncio.create_task(manager.assign(sleep, 60.0))
    await settle()
    ending = asyncio.create_task(manager.__aexit__(None, None, None))
    await settle()
    ending.cancel()
    await asyncio.wait([ending])
    assert ending.cancelled()
    assert _statuses(a, b) == ["stopped", "stopped"]
    assert await _code(running) is NONE_LEFT
    assert now_s() == 0


@virtual_time
async def test_plans_for_a_worker_that_left_or_after_the_end_are_nobodys_business() -> None:
    worker = ScriptedWorker("a")
    config = unattended(supervisor=SupervisorConfig(max_restarts=1))
    group = WorkerGroup([worker])
    async with Manager(group, config, clock=VirtualClock()) as manager:
        worker.fail("gone")
        await group.remove("a")
        await asyncio.sleep(60)
        assert (worker.status, worker.starts) == (WorkerStatus.STOPPED, 1)
        assert await _code(manager.assign(double, 1)) is NONE_LEFT
    assert asyncio.all_tasks() == {asyncio.current_task()}


@virtual_time
async def test_one_whose_removal_was_cancelled_is_not_waited_for() -> None:
    worker = ScriptedWorker("a")
    group = WorkerGroup([worker])
    async with Manager(group, unattended(supervisor=SupervisorConfig()), clock=VirtualClock()) as manager:
        running = asyncio.ensure_future(manager.assign(sleep, 100.0))
        await settle()
        removal = asyncio.ensure_future(group.remove("a"))
        await settle()
        removal.cancel()
        await settle()
        worker.fail("while it leaves")
        assert await _code(manager.assign(double, 1)) is NONE_LEFT
        assert await _code(running) is NONE_LEFT
