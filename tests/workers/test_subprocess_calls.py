"""Calls that a subprocess worker's process cannot take are answered, and the process goes on."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from fairlane.workers.errors import WorkerError, WorkerErrorCode
from fairlane.workers.members.status import WorkerStatus
from fairlane.workers.transports.subprocess_worker import SubprocessWorker
from tests.support.worker_hostile import LOADING, Unloadable, Unpicklable, take
from tests.support.worker_work import task


@pytest.fixture
async def worker() -> AsyncIterator[SubprocessWorker]:
    worker = SubprocessWorker("w")
    await worker.start()
    yield worker
    await worker.stop()


SAYS = {
    "surrogate": r"ValueError: file \udcff is missing",
    "unspeakable": "Unspeakable: Unspeakable",
    "exit": "SystemExit: 3",
    "cancelled": "CancelledError: CancelledError",
}


async def test_an_input_that_cannot_be_loaded_is_refused(worker: SubprocessWorker) -> None:
    pid = worker.pid
    for name in LOADING:
        async with asyncio.timeout(20):
            with pytest.raises(WorkerError) as error:
                await worker.execute(task(take), Unloadable(name))
        assert error.value.code is WorkerErrorCode.INVALID_CONFIGURATION
        assert f"cannot be sent to worker w: {SAYS[name]}; " in str(error.value)
        assert (worker.status, worker.load) == (WorkerStatus.READY, 0)
    assert await worker.execute(task(take), None) == pid


async def test_an_input_that_cannot_be_pickled_is_refused_whatever_that_raises(worker: SubprocessWorker) -> None:
    with pytest.raises(WorkerError, match="cannot be sent to worker w: Unspeakable; ") as error:
        await worker.execute(task(take), Unpicklable())
    assert error.value.code is WorkerErrorCode.INVALID_CONFIGURATION
    assert worker.load == 0
