"""A worker that has stopped may be used in another event loop, and only there."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from fairlane.workers.errors import WorkerError, WorkerErrorCode
from fairlane.workers.executor.manager import Manager
from fairlane.workers.members.group import WorkerGroup
from fairlane.workers.members.status import WorkerStatus
from fairlane.workers.transports.abstract_worker import AbstractWorker
from fairlane.workers.transports.local_worker import LocalWorker
from fairlane.workers.transports.subprocess_worker import SubprocessWorker
from tests.support.worker_work import Meeting, double, meet, task


@pytest.mark.parametrize("kind", [LocalWorker, SubprocessWorker])
def test_one_that_has_stopped_works_and_stops_in_the_next_loop(kind: Callable[[str], AbstractWorker]) -> None:
    worker = kind("w")

    async def use_it() -> str:
        """Leave while it works, so that its stop waits."""
        async with Meeting() as meeting:
            await worker.start()
            async with Manager(WorkerGroup([worker])) as manager:
                met = asyncio.create_task(manager.assign(meet, meeting.address))
                guest = await meeting.guest()
                worker.watch(lambda member: guest.release() if member.status is WorkerStatus.DRAINING else None)
            return await met

    for _ in range(2):
        assert asyncio.run(use_it()) == "met"
        assert (worker.status, worker.load) == (WorkerStatus.STOPPED, 0)


def test_one_that_is_at_work_is_not_started_in_another_loop() -> None:
    worker = LocalWorker("w")
    asyncio.run(worker.start())
    with pytest.raises(WorkerError, match="worker w belongs to another event loop: stop it there") as error:
        asyncio.run(worker.start())
    assert error.value.code is WorkerErrorCode.ILLEGAL_TRANSITION
    assert worker.status is WorkerStatus.READY
    asyncio.run(worker.stop())

    async def use_it() -> int:
        await worker.start()
        return await worker.execute(task(double), 21)

    assert asyncio.run(use_it()) == 42


def test_one_that_still_runs_something_is_not_started_in_another_loop() -> None:
    worker = LocalWorker("w")
    gate = threading.Event()
    began = threading.Event()

    def wait(_: None) -> None:
        began.set()
        gate.wait()

    async def leave_it() -> None:
        await worker.start()
        call = asyncio.create_task(worker.execute(task(wait), None))
        await asyncio.to_thread(began.wait)
        await worker.stop()
        with pytest.raises(WorkerError):
            await call

    asyncio.run(leave_it())
    assert (worker.status, worker.load) == (WorkerStatus.STOPPED, 1)
    with pytest.raises(WorkerError, match="belongs to another event loop"):
        asyncio.run(worker.start())
    gate.set()
