"""What every worker promises about work that is out of the ordinary."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from fairlane.workers.errors import WorkerError, WorkerErrorCode
from fairlane.workers.executor.task import Task
from fairlane.workers.members.status import WorkerStatus
from fairlane.workers.transports.abstract_worker import AbstractWorker
from tests.support.worker_hostile import ERRORS, raise_named, raise_named_async
from tests.support.worker_work import AsyncTripler, Tripler, double, double_in_thread
from tests.workers import test_worker_contract as contract

worker = contract.worker
ready = contract.ready


@pytest.mark.parametrize("kind", [Tripler, AsyncTripler])
@pytest.mark.parametrize("work", [double, double_in_thread])
async def test_a_task_that_executes_in_its_own_way_does_so_everywhere(
    ready: AbstractWorker, kind: type[Task[int, int]], work: Callable[[int], Any]
) -> None:
    assert await ready.execute(kind(work, task_id="t", created_s=0), 14) == 42


@pytest.mark.parametrize("work", [raise_named, raise_named_async])
async def test_no_error_of_the_work_keeps_its_caller_or_its_slot(
    ready: AbstractWorker, work: Callable[[str], Any]
) -> None:
    for name, make in ERRORS.items():
        task = Task(work, task_id=name, created_s=0)
        async with asyncio.timeout(20):
            with pytest.raises(WorkerError, match=f"task {name} failed on worker w: ") as error:
                await ready.execute(task, name)
        assert error.value.code is WorkerErrorCode.TASK_FAILED
        # One that does not survive the way from a process, or is no Exception there, comes as an error that names it.
        cause, kind = error.value.cause, type(make())
        assert type(cause) is kind or kind.__name__ in str(cause)
        assert (ready.status, ready.load) == (WorkerStatus.READY, 0)
