"""Calls that a subprocess worker's process cannot take are answered, and the process goes on."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from fairlane.pool.errors import PoolError, PoolErrorCode
from fairlane.pool.status import WorkerStatus
from fairlane.pool.transports.subprocess_worker import SubprocessWorker
from tests.support.pool_hostile import LOADING, Unloadable, Unpicklable, take
from tests.support.pool_work import task


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
            with pytest.raises(PoolError) as error:
                await worker.execute(task(take), Unloadable(name))
        assert error.value.code is PoolErrorCode.INVALID_CONFIGURATION
        assert f"cannot be sent to worker w: {SAYS[name]}; " in str(error.value)
        assert (worker.status, worker.load) == (WorkerStatus.READY, 0)
    assert await worker.execute(task(take), None) == pid


async def test_an_input_that_cannot_be_pickled_is_refused_whatever_that_raises(worker: SubprocessWorker) -> None:
    with pytest.raises(PoolError, match="cannot be sent to worker w: Unspeakable; ") as error:
        await worker.execute(task(take), Unpicklable())
    assert error.value.code is PoolErrorCode.INVALID_CONFIGURATION
    assert worker.load == 0
