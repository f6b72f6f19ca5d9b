"""A manager starts and stops its workers, also those that do not start or stop in time."""

import asyncio

import pytest

from fairlane.workers import (
    HealthConfig,
    Manager,
    SupervisorConfig,
    TaskStatus,
    WorkerError,
    WorkerErrorCode,
    WorkerGroup,
    WorkerStatus,
)
from tests.support.virtual_time import VirtualClock, now_s, settle, virtual_time
from tests.support.worker_errors import fails
from tests.support.worker_gated import code_of
from tests.support.worker_members import hang, ignore_cancellation
from tests.support.worker_workers import ScriptedWorker, double, managed, new_task, sleep, started, unattended

NONE_LEFT = WorkerErrorCode.NO_WORKERS_AVAILABLE


def _over(group: WorkerGroup[ScriptedWorker], **fields: object) -> Manager:
    return Manager(group, unattended(**fields), clock=VirtualClock())


def _statuses(*workers: ScriptedWorker) -> list[str]:
    return [worker.status.value for worker in workers]


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
async def test_without_workers_nothing_waits() -> None:
    manager = managed()
    task = new_task(double)
    with pytest.raises(WorkerError, match="the manager is not running"):
        await manager.assign(task, 1)
    assert task.status is TaskStatus.FAILED
    async with manager:
        with fails(NONE_LEFT, "the group is empty"):
            await manager.assign(double, 1)
    assert await code_of(manager.assign(double, 1)) is NONE_LEFT


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
        codes = [await code_of(each) for each in assigned]
        assert codes == [NONE_LEFT] * 4
        assert {task.status for task in tasks} == {TaskStatus.FAILED}
        assert worker.starts == 3


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
async def test_the_end_stops_an_added_worker_that_still_starts() -> None:
    group: WorkerGroup[ScriptedWorker] = WorkerGroup()
    worker = ScriptedWorker("a")
    worker.start_gate = asyncio.Event()
    async with _over(group) as manager:
        group.add(worker)
        waiting = asyncio.create_task(manager.assign(double, 1))
        await settle()
    assert await code_of(waiting) is NONE_LEFT
    assert worker.status is WorkerStatus.STOPPED


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


@virtual_time
async def test_the_end_lets_running_tasks_finish_and_refuses_the_others() -> None:
    worker = ScriptedWorker("a")
    async with managed(worker, config=unattended(stop_grace_ms=10_000)) as manager:
        running = asyncio.create_task(manager.assign(sleep, 5.0))
        waiting = asyncio.create_task(manager.assign(double, 1))
        await settle()
    assert (await running, now_s()) == (5.0, 5)
    assert await code_of(waiting) is NONE_LEFT
    assert worker.status is WorkerStatus.STOPPED


@virtual_time
async def test_the_end_ends_what_still_runs_after_the_grace_time() -> None:
    worker = ScriptedWorker("a")
    task = new_task(sleep)
    async with managed(worker, config=unattended(stop_grace_ms=1_000)) as manager:
        running = asyncio.create_task(manager.assign(task, 60.0))
        await settle()
    with fails(NONE_LEFT) as raised:
        await running
    assert isinstance(raised.value.cause, WorkerError)
    assert raised.value.cause.code is WorkerErrorCode.WORKER_LOST
    assert (now_s(), task.status) == (1, TaskStatus.FAILED)
    await settle()
    assert worker.load == 0


SUPERVISOR = SupervisorConfig(start_timeout_ms=200, backoff_base_ms=0, max_restarts=2)


def _stuck(worker_id: str) -> ScriptedWorker:
    """A worker whose start ends when it is cancelled, and not before."""
    worker = ScriptedWorker(worker_id)
    worker.start_gate = asyncio.Event()
    return worker


class Deaf(ScriptedWorker):
    """Its stops, and its starts if so set, ignore cancellation until the event is set."""

    def __init__(self, worker_id: str) -> None:
        super().__init__(worker_id)
        self.end = asyncio.Event()
        self.deaf_to_start = False

    async def _start(self) -> None:
        if self.deaf_to_start:
            await ignore_cancellation(self.end)()  # type: ignore[misc, operator]

    async def _stop(self) -> None:
        await ignore_cancellation(self.end)()  # type: ignore[misc, operator]


class Foreign(ScriptedWorker):
    """Raises an exception of its own once."""

    def __init__(self, worker_id: str, error: BaseException | None) -> None:
        super().__init__(worker_id)
        self.error = error

    async def start(self) -> None:
        await self._raise_once()
        await super().start()

    async def stop(self, grace_s: float = 0.0) -> None:
        await self._raise_once()
        await super().stop(grace_s)

    async def _raise_once(self) -> None:
        error, self.error = self.error, None
        if error is not None:
            raise error


@virtual_time
async def test_one_that_does_not_start_holds_up_the_others_no_longer_than_a_start_may_take() -> None:
    a, b = ScriptedWorker("a"), _stuck("b")
    async with managed(a, b, config=unattended(supervisor=SUPERVISOR)) as manager:
        assert now_s() == pytest.approx(0.2)
        assert (a.status, b.status) == (WorkerStatus.READY, WorkerStatus.FAILED)
        assert await manager.assign(double, 21) == 42
        await asyncio.sleep(10)
        assert (b.status, b.starts) == (WorkerStatus.FAILED, 3)


@virtual_time
async def test_without_a_supervisor_it_makes_entering_fail_after_the_usual_time() -> None:
    a, b = ScriptedWorker("a"), _stuck("b")
    with fails(WorkerErrorCode.WORKER_START_FAILED, "worker b did not start within 30 s") as raised:
        async with managed(a, b):
            pass
    assert raised.value.context == {"worker": "b"}
    assert now_s() == 30
    assert (a.status, b.status) == (WorkerStatus.STOPPED, WorkerStatus.STOPPED)


@pytest.mark.parametrize(
    ("error", "text"), [(OSError("stuck"), "stuck"), (asyncio.CancelledError(), "it was cancelled")]
)
@virtual_time
async def test_whatever_a_start_or_a_stop_raises_the_caller_gets_a_worker_error(error, text) -> None:
    worker, other = Foreign("a", error), ScriptedWorker("other")
    with fails(WorkerErrorCode.WORKER_START_FAILED, f"worker a did not start: {text}"):
        async with managed(worker, other):
            pass
    assert _statuses(worker, other) == ["stopped", "stopped"]

    worker = Foreign("b", None)
    with fails(WorkerErrorCode.WORKER_STOP_FAILED, f"worker b did not stop: {text}"):
        async with managed(worker, other := ScriptedWorker("other")):
            worker.error = error
    assert other.status is WorkerStatus.STOPPED


@virtual_time
async def test_the_end_does_not_wait_for_a_start_that_a_stop_does_not_end() -> None:
    class Unmoved(ScriptedWorker):
        async def start(self) -> None:
            await hang()

    group: WorkerGroup[ScriptedWorker] = WorkerGroup()
    async with Manager(group, unattended(), clock=VirtualClock()):
        group.add(Unmoved("a"))
        await settle()
    assert (now_s(), group.get("a").status) == (0, WorkerStatus.STOPPED)
    await settle()
    assert asyncio.all_tasks() == {asyncio.current_task()}


@virtual_time
async def test_entering_that_is_cancelled_does_not_wait_for_a_start_that_ignores_it() -> None:
    worker = Deaf("a")
    worker.deaf_to_start = True
    entering = asyncio.create_task(managed(worker).__aenter__())
    await settle()
    entering.cancel()
    await settle()
    entering.cancel()
    await asyncio.wait([entering])
    assert entering.cancelled()
    assert now_s() == 3
    worker.end.set()


@virtual_time
async def test_the_end_waits_for_a_stop_no_longer_than_the_grace_time_and_some(
    caplog: pytest.LogCaptureFixture,
) -> None:
    deaf, other = Deaf("deaf"), ScriptedWorker("other")
    with fails(WorkerErrorCode.WORKER_STOP_FAILED, "worker deaf did not stop within 12 s"):
        async with managed(deaf, other, config=unattended(stop_grace_ms=2_000)):
            pass
    assert (now_s(), other.status) == (12, WorkerStatus.STOPPED)
    assert "worker deaf did not stop within 12 s, and is abandoned" in caplog.text
    deaf.end.set()
    await settle()
    assert deaf.status is WorkerStatus.STOPPED


@virtual_time
async def test_an_end_that_is_cancelled_waits_little_for_a_stop_and_then_is_cancelled() -> None:
    deaf, other = Deaf("deaf"), ScriptedWorker("other")
    manager = managed(deaf, other)
    await manager.__aenter__()
    running = asyncio.create_task(manager.assign(sleep, 60.0))
    await settle()
    ending = asyncio.create_task(manager.__aexit__(None, None, None))
    await settle()
    ending.cancel()
    await asyncio.wait([ending])
    assert ending.cancelled()
    assert (now_s(), other.status) == (3, WorkerStatus.STOPPED)
    await asyncio.wait([running])
    deaf.end.set()
