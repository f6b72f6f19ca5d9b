"""The time that a task or an attempt has."""

import asyncio

import pytest

from fairlane.workers.errors import WorkerError, WorkerErrorCode
from fairlane.workers.executor.deadline import deadline
from tests.support.virtual_time import now_s, virtual_time
from tests.support.worker_workers import double, new_task


@virtual_time
async def test_a_block_ends_when_its_time_is_up() -> None:
    with pytest.raises(WorkerError, match="task t did not end within 2 s") as raised:
        async with deadline(new_task(double), 2, "did not end within"):
            await asyncio.sleep(60)
    assert raised.value.code is WorkerErrorCode.TASK_TIMEOUT
    assert now_s() == 2


@virtual_time
async def test_what_else_was_too_late_in_the_block_is_not_the_blocks_own_time() -> None:
    with pytest.raises(TimeoutError, match="somebody else's"):
        async with deadline(new_task(double), 2, "did not end within"):
            raise TimeoutError("somebody else's")
