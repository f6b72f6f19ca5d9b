"""What is done once: a manager and its parts are entered once, and a task belongs to one assign."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from fairlane.config.workers import HealthConfig, SupervisorConfig
from fairlane.workers.errors import WorkerError, WorkerErrorCode
from fairlane.workers.executor.manager import Manager
from fairlane.workers.members.group import WorkerGroup
from fairlane.workers.members.health_checker import HealthChecker
from fairlane.workers.members.status import TaskStatus, WorkerStatus
from fairlane.workers.members.supervisor import Supervisor
from tests.support.virtual_time import VirtualClock, now_s, settle, virtual_time
from tests.support.worker_workers import ScriptedWorker, double, managed, new_task, sleep, started, unattended

Context = AbstractAsyncContextManager[Any]
CONTEXTS: list[Callable[[WorkerGroup[Any]], Context]] = [
    lambda group: Manager(group, clock=VirtualClock()),
    lambda group: Supervisor(group, SupervisorConfig(), clock=VirtualClock()),
    lambda group: HealthChecker(group, HealthConfig(), clock=VirtualClock()),
]


async def _refused(context: Context) -> None:
    with pytest.raises(WorkerError, match="was entered before, and can be used only once") as raised:
        await context.__aenter__()
    assert raised.value.code is WorkerErrorCode.ILLEGAL_TRANSITION


@pytest.mark.parametrize("make", CONTEXTS)
@virtual_time
async def test_a_second_entry_is_refused_and_changes_nothing(make: Callable[[WorkerGroup[Any]], Context]) -> None:
    group = WorkerGroup(await started(ScriptedWorker("a")))
    context = make(group)
    async with context:
        await settle()
        before = asyncio.all_tasks()
        await _refused(context)
        assert asyncio.all_tasks() == before
    await _refused(context)
    assert asyncio.all_tasks() == {asyncio.current_task()}


@virtual_time
async def test_the_manager_that_was_entered_goes_on_after_a_second_entry_was_refused() -> None:
    worker = ScriptedWorker("a")
    async with managed(worker, config=unattended(supervisor=SupervisorConfig())) as manager:
        with pytest.raises(WorkerError):
            async with manager:
                pytest.fail("it was entered")
        assert await manager.assign(double, 21) == 42
        worker.fail("for a moment")
        assert await manager.assign(double, 21) == 42
    assert worker.status is WorkerStatus.STOPPED


@virtual_time
async def test_one_that_could_not_begin_is_not_entered_again() -> None:
    worker = ScriptedWorker("a")
    worker.start_errors.append(OSError("no room"))
    manager = managed(worker)
    with pytest.raises(WorkerError, match="no room"):
        await manager.__aenter__()
    await _refused(manager)


# -- a task --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("capacity", [1, 4])
@virtual_time
async def test_a_task_that_one_manager_has_is_refused_by_another(capacity: int) -> None:
    """Whether it waits for a slot or is executed already."""
    worker = ScriptedWorker("a", capacity=capacity)
    group = WorkerGroup([worker])
    one, two = (Manager(group, unattended(), clock=VirtualClock()) for _ in range(2))
    async with one, two:
        blocker = asyncio.create_task(one.assign(sleep, 1.0))
        await settle()
        task = new_task(sleep)
        first = asyncio.create_task(one.assign(task, 2.0))
        await settle()
        status = task.status
        with pytest.raises(WorkerError) as raised:
            await two.assign(task, 2.0)
        assert raised.value.code is WorkerErrorCode.ILLEGAL_TRANSITION
        assert (now_s(), task.status) == (0, status)
        assert (await blocker, await first) == (1.0, 2.0)
        assert (task.status, task.metadata.attempts) == (TaskStatus.COMPLETED, 1)
    assert worker.metrics.successes == 2


@virtual_time
async def test_a_task_that_waits_between_two_attempts_is_refused_by_another_manager() -> None:
    async def fail(_: None) -> None:
        raise ConnectionError("once more")

    group = WorkerGroup([ScriptedWorker("a", capacity=4)])
    config = unattended(retries=1, backoff_base_ms=60_000, backoff_cap_ms=60_000)
    async with Manager(group, config, retry_on=(ConnectionError,), clock=VirtualClock()) as one:
        task = new_task(fail)
        first = asyncio.create_task(one.assign(task, None))
        await settle()
        assert task.status is TaskStatus.PENDING
        other = Manager(group, unattended(), clock=VirtualClock())
        with pytest.raises(WorkerError, match="task t is already assigned, and has not ended"):
            await other.assign(task, None)
        with pytest.raises(WorkerError) as raised:
            await first
        assert raised.value.code is WorkerErrorCode.RETRIES_EXHAUSTED
