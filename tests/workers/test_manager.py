"""Assigning: what comes back, what is refused, and how deadlines and cancellations end it."""

import asyncio
import gc
import math
import weakref

import pytest

from fairlane.workers.errors import WorkerError, WorkerErrorCode
from fairlane.workers.members.status import TaskStatus, WorkerStatus
from tests.support.virtual_time import now_s, settle, virtual_time
from tests.support.worker_workers import (
    ScriptedWorker,
    double,
    managed,
    new_task,
    sleep,
    unattended,
)


async def _code(assigned) -> WorkerErrorCode:
    with pytest.raises(WorkerError) as raised:
        await assigned
    return raised.value.code


# -- what comes back -----------------------------------------------------------------------------------------


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
async def test_tasks_wait_for_a_slot_in_the_order_in_which_they_came() -> None:
    begun: list[int] = []

    async def work(number: int) -> None:
        begun.append(number)
        await asyncio.sleep(1)

    async with managed(ScriptedWorker("a"), ScriptedWorker("b")) as manager:
        await asyncio.gather(*(manager.assign(work, number) for number in range(9)))
    assert begun == list(range(9))
    assert now_s() == 5


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
async def test_what_a_task_raises_is_the_cause_of_what_its_caller_gets() -> None:
    def fail(value: str) -> None:
        raise KeyError(value)

    async with managed(ScriptedWorker("a")) as manager:
        task = new_task(fail)
        with pytest.raises(WorkerError, match="task t failed on worker a") as raised:
            await manager.assign(task, "key")
        assert raised.value.code is WorkerErrorCode.TASK_FAILED
        assert isinstance(raised.value.cause, KeyError)
        assert (task.status, task.metadata.attempts) == (TaskStatus.FAILED, 1)


@virtual_time
async def test_a_task_that_cancels_itself_is_cancelled_but_not_its_caller() -> None:
    async def give_up(_: None) -> None:
        raise asyncio.CancelledError

    async with managed(ScriptedWorker("a")) as manager:
        task = new_task(give_up)
        assert await _code(manager.assign(task, None)) is WorkerErrorCode.TASK_CANCELLED
        assert (task.status, task.metadata.attempts) == (TaskStatus.CANCELLED, 1)


@virtual_time
async def test_a_worker_that_breaks_its_contract_leaves_the_task_failed() -> None:
    class Broken(ScriptedWorker):
        async def execute(self, task, value):
            raise TimeoutError("not the manager's")

    async with managed(Broken("a"), config=unattended(attempt_timeout_ms=1_000)) as manager:
        task = new_task(double)
        with pytest.raises(WorkerError, match=r"task t failed on worker a: .*not the manager's") as raised:
            await manager.assign(task, 1, timeout_s=1)
        assert raised.value.code is WorkerErrorCode.TASK_FAILED
        assert isinstance(raised.value.cause, TimeoutError)
        assert task.status is TaskStatus.FAILED


# -- what is refused -----------------------------------------------------------------------------------------


@virtual_time
async def test_a_task_is_assigned_once() -> None:
    async with managed(ScriptedWorker("a")) as manager:
        blocker = asyncio.create_task(manager.assign(sleep, 5.0))
        await settle()
        task = new_task(sleep)
        assigned = asyncio.create_task(manager.assign(task, 1.0))
        await settle()
        with pytest.raises(WorkerError, match="task t is already assigned, and has not ended") as raised:
            await manager.assign(task, 1.0)
        assert raised.value.code is WorkerErrorCode.ILLEGAL_TRANSITION
        await blocker
        await settle()
        for _ in range(2):
            assert await _code(manager.assign(task, 1.0)) is WorkerErrorCode.ILLEGAL_TRANSITION
            await assigned
        assert (task.status, task.metadata.attempts) == (TaskStatus.COMPLETED, 1)


@pytest.mark.parametrize(
    "timeout_s", [math.nan, math.inf, -math.inf, "soon", True, 10**400, pytest.param(-(10**5_000), id="no number")]
)
@virtual_time
async def test_a_timeout_is_a_number_of_seconds(timeout_s) -> None:
    async with managed(ScriptedWorker("a")) as manager:
        task = new_task(double)
        with pytest.raises(WorkerError, match=r"timeout_s = .*: must be a finite number of seconds, or None") as raised:
            await manager.assign(task, 1, timeout_s=timeout_s)
        assert raised.value.code is WorkerErrorCode.INVALID_CONFIGURATION
        assert task.status is TaskStatus.PENDING


@virtual_time
async def test_work_is_a_task_or_a_function() -> None:
    async with managed(ScriptedWorker("a")) as manager:
        with pytest.raises(WorkerError, match="work = 'double': must be callable") as raised:
            await manager.assign("double", 1)
        assert raised.value.code is WorkerErrorCode.INVALID_CONFIGURATION


@virtual_time
async def test_a_strategy_that_is_not_there_is_no_manager() -> None:
    with pytest.raises(WorkerError, match="no-such-strategy") as raised:
        managed(ScriptedWorker("a"), config=unattended(strategy="no-such-strategy"))
    assert raised.value.code is WorkerErrorCode.INVALID_CONFIGURATION


@virtual_time
async def test_the_queue_is_bounded() -> None:
    async with managed(ScriptedWorker("a"), config=unattended(queue_limit=2)) as manager:
        tasks = [new_task(sleep, f"t{n}") for n in range(4)]
        assigned = [asyncio.create_task(manager.assign(task, 1.0)) for task in tasks]
        assert await _code(assigned[3]) is WorkerErrorCode.QUEUE_FULL
        assert await asyncio.gather(*assigned[:3]) == [1.0] * 3
        assert [task.status for task in tasks] == [TaskStatus.COMPLETED] * 3 + [TaskStatus.FAILED]


# -- deadlines -----------------------------------------------------------------------------------------------


@virtual_time
async def test_a_deadline_ends_an_execution_and_frees_its_slot() -> None:
    worker = ScriptedWorker("a")
    async with managed(worker) as manager:
        task = new_task(sleep)
        with pytest.raises(WorkerError, match=r"task t did not end within 2.0 s") as raised:
            await manager.assign(task, 60.0, timeout_s=2.0)
        assert raised.value.code is WorkerErrorCode.TASK_TIMEOUT
        assert raised.value.context == {"task": "t", "timeout_s": 2.0, "workers": ("a",)}
        assert (now_s(), task.status) == (2, TaskStatus.FAILED)
        await settle()
        assert (worker.load, worker.status) == (0, WorkerStatus.READY)


@virtual_time
async def test_a_deadline_ends_a_wait_for_a_slot() -> None:
    async with managed(ScriptedWorker("a")) as manager:
        blocker = asyncio.create_task(manager.assign(sleep, 5.0))
        await settle()
        task = new_task(double)
        assert await _code(manager.assign(task, 1, timeout_s=2)) is WorkerErrorCode.TASK_TIMEOUT
        assert (now_s(), task.status, task.metadata.workers) == (2, TaskStatus.FAILED, ())
        assert await manager.assign(double, 2, timeout_s=4) == 4
        await blocker


@pytest.mark.parametrize("timeout_s", [0, -1.5])
@virtual_time
async def test_a_deadline_that_has_passed_lets_nothing_begin(timeout_s: float) -> None:
    async with managed(ScriptedWorker("a")) as manager:
        task = new_task(double)
        assert await _code(manager.assign(task, 1, timeout_s=timeout_s)) is WorkerErrorCode.TASK_TIMEOUT
        assert (task.status, task.metadata.attempts) == (TaskStatus.FAILED, 0)


# -- cancellations -------------------------------------------------------------------------------------------


async def _cancelled(assigned: "asyncio.Task[object]") -> bool:
    assigned.cancel()
    await asyncio.wait([assigned])
    return assigned.cancelled()


@virtual_time
async def test_a_caller_that_is_cancelled_ends_the_execution() -> None:
    worker = ScriptedWorker("a")
    async with managed(worker) as manager:
        task = new_task(sleep)
        assigned = asyncio.create_task(manager.assign(task, 60.0, timeout_s=30))
        await settle()
        assert await _cancelled(assigned)
        await settle()
        assert (task.status, worker.load, now_s()) == (TaskStatus.CANCELLED, 0, 0)
        assert await manager.assign(double, 1) == 2


@virtual_time
async def test_a_caller_that_is_cancelled_leaves_the_line() -> None:
    async with managed(ScriptedWorker("a")) as manager:
        blocker = asyncio.create_task(manager.assign(sleep, 5.0))
        await settle()
        task = new_task(sleep)
        first = asyncio.create_task(manager.assign(task, 60.0))
        second = asyncio.create_task(manager.assign(double, 4))
        await settle()
        assert await _cancelled(first)
        assert task.status is TaskStatus.CANCELLED
        assert (await blocker, await second) == (5.0, 8)


@virtual_time
async def test_a_slot_that_is_given_to_one_that_is_cancelled_at_that_moment_goes_to_the_next() -> None:
    async with managed(ScriptedWorker("a")) as manager:
        blocker = asyncio.create_task(manager.assign(sleep, 5.0))
        await settle()
        first = asyncio.create_task(manager.assign(sleep, 60.0))
        second = asyncio.create_task(manager.assign(double, 4))
        blocker.add_done_callback(lambda _: first.cancel())
        assert (await blocker, await second) == (5.0, 8)
        assert first.cancelled()


@virtual_time
async def test_a_cancellation_and_a_deadline_at_once_are_a_cancellation() -> None:
    async with managed(ScriptedWorker("a"), config=unattended(attempt_timeout_ms=2_000)) as manager:
        task = new_task(sleep)
        assigned = asyncio.create_task(manager.assign(task, 60.0, timeout_s=2))
        asyncio.get_running_loop().call_at(2, assigned.cancel)
        await asyncio.wait([assigned])
        assert (assigned.cancelled(), task.status) == (True, TaskStatus.CANCELLED)
