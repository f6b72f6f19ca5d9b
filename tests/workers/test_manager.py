"""Assigning tasks: results, refusals, deadlines, cancellations, and single use."""

import asyncio
import gc
import math
import weakref
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from fairlane.workers import (
    HealthChecker,
    HealthConfig,
    Manager,
    Supervisor,
    SupervisorConfig,
    TaskStatus,
    WorkerErrorCode,
    WorkerGroup,
    WorkerStatus,
)
from tests.support.virtual_time import VirtualClock, now_s, settle, virtual_time
from tests.support.worker_errors import fails
from tests.support.worker_gated import code_of
from tests.support.worker_workers import (
    ScriptedWorker,
    double,
    managed,
    new_task,
    sleep,
    started,
    unattended,
)


@virtual_time
async def test_a_function_is_executed_as_a_task_of_its_own() -> None:
    async with managed(ScriptedWorker("a", capacity=4), ScriptedWorker("b", capacity=4)) as manager:
        assert await manager.assign(double, 21) == 42
        assert await manager.assign(lambda text: text.upper(), "blocking") == "BLOCKING"
        assert await asyncio.gather(*(manager.assign(double, n) for n in range(40))) == [2 * n for n in range(40)]


@virtual_time
async def test_a_task_says_where_it_is_and_where_it_was() -> None:
    async with managed(ScriptedWorker("a")) as manager:
        task = new_task(sleep)
        assert task.status is TaskStatus.PENDING
        assigned = asyncio.create_task(manager.assign(task, 1.0))
        await settle()
        assert task.status is TaskStatus.RUNNING
        assert await assigned == 1.0
        assert task.status is TaskStatus.COMPLETED
        assert (task.metadata.workers, task.metadata.attempts) == (("a",), 1)


@virtual_time
async def test_a_task_that_ended_is_not_held_on_to() -> None:
    async with managed(ScriptedWorker("a")) as manager:
        task = new_task(double)
        await manager.assign(task, 1)
        held = weakref.ref(task)
        del task
        await settle()
        gc.collect()
        assert held() is None


@virtual_time
async def test_the_strategy_decides_who_gets_a_task() -> None:
    a, b = ScriptedWorker("a", capacity=9), ScriptedWorker("b", capacity=9)
    async with managed(a, b, config=unattended(strategy="round-robin")) as manager:
        tasks = [new_task(double, f"t{n}") for n in range(6)]
        for task in tasks:
            await manager.assign(task, 1)
    assert {task.metadata.workers for task in tasks[::2]} != {task.metadata.workers for task in tasks[1::2]}
    assert a.metrics.successes == b.metrics.successes == 3


@virtual_time
async def test_a_worker_that_breaks_its_contract_leaves_the_task_failed() -> None:
    class Broken(ScriptedWorker):
        async def execute(self, task, value):
            raise TimeoutError("not the manager's")

    async with managed(Broken("a"), config=unattended(attempt_timeout_ms=1_000)) as manager:
        task = new_task(double)
        with fails(WorkerErrorCode.TASK_FAILED, r"task t failed on worker a: .*not the manager's") as raised:
            await manager.assign(task, 1, timeout_s=1)
        assert isinstance(raised.value.cause, TimeoutError)
        assert task.status is TaskStatus.FAILED


@pytest.mark.parametrize(
    "timeout_s", [math.nan, math.inf, -math.inf, "soon", True, 10**400, pytest.param(-(10**5_000), id="no number")]
)
@virtual_time
async def test_a_timeout_is_a_number_of_seconds(timeout_s) -> None:
    async with managed(ScriptedWorker("a")) as manager:
        task = new_task(double)
        with fails(
            WorkerErrorCode.INVALID_CONFIGURATION, r"timeout_s = .*: must be a finite number of seconds, or None"
        ):
            await manager.assign(task, 1, timeout_s=timeout_s)
        assert task.status is TaskStatus.PENDING


@virtual_time
async def test_the_queue_is_bounded() -> None:
    async with managed(ScriptedWorker("a"), config=unattended(queue_limit=2)) as manager:
        tasks = [new_task(sleep, f"t{n}") for n in range(4)]
        assigned = [asyncio.create_task(manager.assign(task, 1.0)) for task in tasks]
        assert await code_of(assigned[3]) is WorkerErrorCode.QUEUE_FULL
        assert await asyncio.gather(*assigned[:3]) == [1.0] * 3
        assert [task.status for task in tasks] == [TaskStatus.COMPLETED] * 3 + [TaskStatus.FAILED]


@virtual_time
async def test_a_deadline_ends_an_execution_and_frees_its_slot() -> None:
    worker = ScriptedWorker("a")
    async with managed(worker) as manager:
        task = new_task(sleep)
        with fails(WorkerErrorCode.TASK_TIMEOUT, r"task t did not end within 2.0 s") as raised:
            await manager.assign(task, 60.0, timeout_s=2.0)
        assert raised.value.context == {"task": "t", "timeout_s": 2.0, "workers": ("a",)}
        assert (now_s(), task.status) == (2, TaskStatus.FAILED)
        await settle()
        assert (worker.load, worker.status) == (0, WorkerStatus.READY)


@pytest.mark.parametrize("timeout_s", [0, -1.5])
@virtual_time
async def test_a_deadline_that_has_passed_lets_nothing_begin(timeout_s: float) -> None:
    async with managed(ScriptedWorker("a")) as manager:
        task = new_task(double)
        assert await code_of(manager.assign(task, 1, timeout_s=timeout_s)) is WorkerErrorCode.TASK_TIMEOUT
        assert (task.status, task.metadata.attempts) == (TaskStatus.FAILED, 0)


@virtual_time
async def test_a_cancellation_and_a_deadline_at_once_are_a_cancellation() -> None:
    async with managed(ScriptedWorker("a"), config=unattended(attempt_timeout_ms=2_000)) as manager:
        task = new_task(sleep)
        assigned = asyncio.create_task(manager.assign(task, 60.0, timeout_s=2))
        asyncio.get_running_loop().call_at(2, assigned.cancel)
        await asyncio.wait([assigned])
        assert (assigned.cancelled(), task.status) == (True, TaskStatus.CANCELLED)


Context = AbstractAsyncContextManager[Any]
CONTEXTS: list[Callable[[WorkerGroup[Any]], Context]] = [
    lambda group: Manager(group, clock=VirtualClock()),
    lambda group: Supervisor(group, SupervisorConfig(), clock=VirtualClock()),
    lambda group: HealthChecker(group, HealthConfig(), clock=VirtualClock()),
]


async def _refused(context: Context) -> None:
    with fails(WorkerErrorCode.ILLEGAL_TRANSITION, "was entered before, and can be used only once"):
        await context.__aenter__()


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
        with fails(WorkerErrorCode.ILLEGAL_TRANSITION):
            await two.assign(task, 2.0)
        assert (now_s(), task.status) == (0, status)
        assert (await blocker, await first) == (1.0, 2.0)
        assert (task.status, task.metadata.attempts) == (TaskStatus.COMPLETED, 1)
    assert worker.metrics.successes == 2
