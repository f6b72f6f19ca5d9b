"""Members whose start or stop does not end: nobody waits for them longer than allowed."""

import asyncio

import pytest

from fairlane.config.workers import SupervisorConfig
from fairlane.workers.errors import WorkerError, WorkerErrorCode
from fairlane.workers.executor.manager import Manager
from fairlane.workers.members.group import WorkerGroup
from fairlane.workers.members.status import WorkerStatus
from tests.support.virtual_time import VirtualClock, now_s, settle, virtual_time
from tests.support.worker_members import hang, ignore_cancellation
from tests.support.worker_workers import ScriptedWorker, double, managed, sleep, unattended

SUPERVISOR = SupervisorConfig(start_timeout_ms=200, backoff_base_ms=0, max_restarts=2)


def _stuck(worker_id: str) -> ScriptedWorker:
    """A worker whose start ends when it is cancelled, and not before."""
    worker = ScriptedWorker(worker_id)
    worker.start_gate = asyncio.Event()
    return worker


class Deaf(ScriptedWorker):
    """Neither its starts nor its stops end before the event, whoever cancels them."""

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
    """Says once what is wrong, in its own words."""

    def __init__(self, worker_id: str, error: BaseException | None) -> None:
        super().__init__(worker_id)
        self.error = error

    async def start(self) -> None:
        await self._say()
        await super().start()

    async def stop(self, grace_s: float = 0.0) -> None:
        await self._say()
        await super().stop(grace_s)

    async def _say(self) -> None:
        error, self.error = self.error, None
        if error is not None:
            raise error


# -- starts --------------------------------------------------------------------------------------------------


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
    with pytest.raises(WorkerError, match="worker b did not start within 30 s") as raised:
        async with managed(a, b):
            pass
    assert raised.value.code is WorkerErrorCode.WORKER_START_FAILED
    assert raised.value.context == {"worker": "b"}
    assert now_s() == 30
    assert (a.status, b.status) == (WorkerStatus.STOPPED, WorkerStatus.STOPPED)


@virtual_time
async def test_one_that_is_added_and_never_starts_is_not_waited_for_without_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    group: WorkerGroup[ScriptedWorker] = WorkerGroup()
    async with Manager(group, unattended(supervisor=SUPERVISOR), clock=VirtualClock()) as manager:
        group.add(_stuck("b"))
        with pytest.raises(WorkerError, match="no worker to wait for: 1 failed") as raised:
            await manager.assign(double, 1)
    assert raised.value.code is WorkerErrorCode.NO_WORKERS_AVAILABLE
    assert now_s() == pytest.approx(0.6)
    assert "worker b failed: it did not start within 0.2 s" in caplog.text


@virtual_time
async def test_a_start_that_ignores_its_cancellation_is_left_alone() -> None:
    a, b = ScriptedWorker("a"), Deaf("b")
    b.deaf_to_start = True
    manager = managed(a, b, config=unattended(supervisor=SUPERVISOR))
    await manager.__aenter__()
    assert now_s() == pytest.approx(0.2)
    assert await manager.assign(double, 21) == 42
    with pytest.raises(WorkerError, match="worker b did not stop within 20 s"):
        await manager.__aexit__(None, None, None)
    assert a.status is WorkerStatus.STOPPED
    b.end.set()
    await settle()
    assert b.status is WorkerStatus.STOPPED


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


# -- stops ---------------------------------------------------------------------------------------------------


@virtual_time
async def test_the_end_waits_for_a_stop_no_longer_than_the_grace_time_and_some(
    caplog: pytest.LogCaptureFixture,
) -> None:
    deaf, other = Deaf("deaf"), ScriptedWorker("other")
    with pytest.raises(WorkerError, match="worker deaf did not stop within 12 s") as raised:
        async with managed(deaf, other, config=unattended(stop_grace_ms=2_000)):
            pass
    assert raised.value.code is WorkerErrorCode.WORKER_STOP_FAILED
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


@virtual_time
async def test_an_end_that_is_cancelled_twice_is_cancelled_at_once() -> None:
    deaf = Deaf("deaf")
    manager = managed(deaf)
    await manager.__aenter__()
    ending = asyncio.create_task(manager.__aexit__(None, None, None))
    for _ in range(2):
        await settle()
        ending.cancel()
    await asyncio.wait([ending])
    assert (ending.cancelled(), now_s()) == (True, 0)
    deaf.end.set()


# -- in words of their own -----------------------------------------------------------------------------------


@virtual_time
async def test_what_a_start_or_a_stop_raises_is_told_as_an_error_of_the_pool() -> None:
    worker = Foreign("a", OSError("no room"))
    with pytest.raises(WorkerError, match="worker a did not start: no room") as raised:
        async with managed(worker):
            pass
    assert raised.value.code is WorkerErrorCode.WORKER_START_FAILED
    assert isinstance(raised.value.cause, OSError)

    worker = Foreign("b", None)
    manager = managed(worker)
    await manager.__aenter__()
    worker.error = OSError("stuck")
    with pytest.raises(WorkerError, match="worker b did not stop: stuck") as raised:
        await manager.__aexit__(None, None, None)
    assert raised.value.code is WorkerErrorCode.WORKER_STOP_FAILED


@virtual_time
async def test_a_start_that_cancels_itself_has_not_started() -> None:
    worker = Foreign("a", asyncio.CancelledError())
    with pytest.raises(WorkerError, match="worker a did not start: it was cancelled") as raised:
        async with managed(worker):
            pass
    assert raised.value.code is WorkerErrorCode.WORKER_START_FAILED
