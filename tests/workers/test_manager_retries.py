"""Trying again: what is worth another attempt, where and when it is made, and what ends it."""

import asyncio

import pytest

from fairlane.workers import TaskStatus, WorkerError, WorkerErrorCode
from tests.support.virtual_time import now_s, settle, virtual_time
from tests.support.worker_errors import fails
from tests.support.worker_workers import ScriptedWorker, double, managed, new_task, sleep, unattended


class Highest:
    """A source of chance that always takes the upper bound."""

    def uniform(self, low: float, high: float) -> float:
        return high


class Flaky:
    """Work that raises these, and then returns its value; notes when it began."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.begun_s: list[float] = []

    async def __call__(self, value: int) -> int:
        self.begun_s.append(now_s())
        if self.errors:
            raise self.errors.pop(0)
        return value


def _three() -> list[ScriptedWorker]:
    return [ScriptedWorker(name, capacity=4) for name in "abc"]


@virtual_time
async def test_a_task_whose_worker_is_lost_is_tried_on_another() -> None:
    a, b = ScriptedWorker("a"), ScriptedWorker("b")
    async with managed(a, b) as manager:
        task = new_task(sleep)
        assigned = asyncio.create_task(manager.assign(task, 3.0))
        await settle()
        lost, other = (a, b) if a.load else (b, a)
        lost.fail("gone")
        assert await assigned == 3.0
        assert task.metadata.workers == (lost.id, other.id)


@virtual_time
async def test_declared_exceptions_are_tried_again_each_time_on_a_worker_that_was_not_tried() -> None:
    workers = [ScriptedWorker(name, weight=weight) for name, weight in {"a": 10**6, "b": 10**3, "c": 1}.items()]
    config = unattended(strategy="weighted-random")  # prefers the same worker each time
    async with managed(*workers, config=config, retry_on=(ConnectionError,)) as manager:
        task = new_task(Flaky(ConnectionResetError("1"), ConnectionError("2")))
        assert await manager.assign(task, 5) == 5
        assert task.metadata.workers == ("a", "b", "c")
        assert task.status is TaskStatus.COMPLETED


@virtual_time
async def test_a_worker_that_was_tried_is_better_than_waiting_for_another() -> None:
    a, b = ScriptedWorker("a"), ScriptedWorker("b", capacity=1)
    async with managed(a, b, retry_on=(ConnectionError,)) as manager:
        blocker = asyncio.create_task(manager.assign(sleep, 60.0))
        await settle()
        free = b if a.load else a
        task = new_task(Flaky(ConnectionError()))
        assert await manager.assign(task, 5) == 5
        assert task.metadata.workers == (free.id, free.id)
        blocker.cancel()


@virtual_time
async def test_an_undeclared_exception_is_final() -> None:
    async with managed(*_three(), retry_on=(ConnectionError,)) as manager:
        task = new_task(Flaky(ValueError("bad")))
        with fails(WorkerErrorCode.TASK_FAILED, "bad"):
            await manager.assign(task, 5)
        assert task.metadata.attempts == 1


@pytest.mark.parametrize("retries", [0, 1, 3])
@virtual_time
async def test_after_the_last_allowed_attempt_it_is_given_up(retries: int) -> None:
    async with managed(*_three(), config=unattended(retries=retries), retry_on=(ConnectionError,)) as manager:
        task = new_task(Flaky(*(ConnectionError(str(n)) for n in range(9))))
        attempts = retries + 1
        with pytest.raises(
            WorkerError, match=f"{attempts} of {attempts} attempts failed; last error: task t "
        ) as raised:
            await manager.assign(task, 5)
        error = raised.value
        assert error.code is WorkerErrorCode.RETRIES_EXHAUSTED
        assert error.context == {"task": "t", "worker": task.metadata.workers[-1], "attempts": attempts}
        assert isinstance(error.cause, WorkerError)
        assert error.cause.code is WorkerErrorCode.TASK_FAILED
        assert str(error.cause.cause) == str(retries)
        assert (task.status, task.metadata.attempts) == (TaskStatus.FAILED, attempts)


@virtual_time
async def test_an_attempt_that_takes_too_long_is_ended_and_made_elsewhere() -> None:
    workers = _three()
    async with managed(*workers, config=unattended(attempt_timeout_ms=2_000)) as manager:
        waits = [60.0, 1.0]

        async def slow_at_first(_: None) -> float:
            return await sleep(waits.pop(0))

        task = new_task(slow_at_first)
        assert await manager.assign(task, None) == 1.0
        assert len(set(task.metadata.workers)) == 2
        with fails(WorkerErrorCode.RETRIES_EXHAUSTED) as raised:
            await manager.assign(sleep, 60.0)
        assert isinstance(raised.value.cause, WorkerError)
        assert raised.value.cause.code is WorkerErrorCode.TASK_TIMEOUT
        assert raised.value.context["timeout_s"] == 2.0
        await settle()
        assert [worker.load for worker in workers] == [0, 0, 0]


@virtual_time
async def test_the_wait_between_attempts_doubles_up_to_a_cap() -> None:
    config = unattended(retries=4, backoff_base_ms=100, backoff_cap_ms=400)
    async with managed(*_three(), config=config, retry_on=(ConnectionError,), rng=Highest()) as manager:
        work = Flaky(*(ConnectionError() for _ in range(4)))
        await manager.assign(work, 5)
        assert work.begun_s == pytest.approx([0, 0.1, 0.3, 0.7, 1.1])


@virtual_time
async def test_between_two_attempts_a_task_is_pending_and_holds_no_slot() -> None:
    worker = ScriptedWorker("a")
    config = unattended(backoff_base_ms=1_000)
    async with managed(worker, config=config, retry_on=(ConnectionError,), rng=Highest()) as manager:
        task = new_task(Flaky(ConnectionError()))
        assigned = asyncio.create_task(manager.assign(task, 5))
        await settle()
        assert (task.status, task.metadata.attempts, worker.load) == (TaskStatus.PENDING, 1, 0)
        assert await manager.assign(double, 1) == 2
        assert (now_s(), await assigned) == (0, 5)


@virtual_time
async def test_a_further_attempt_waits_behind_the_others_and_is_not_refused_for_lack_of_room() -> None:
    config = unattended(queue_limit=1, backoff_base_ms=0)
    async with managed(ScriptedWorker("a"), config=config, retry_on=(ConnectionError,)) as manager:
        ended: list[str] = []

        async def assign(name: str, work: object, value: float) -> None:
            await manager.assign(work, value)
            ended.append(name)

        first = asyncio.create_task(assign("tried again", Flaky(ConnectionError()), 1))
        second = asyncio.create_task(assign("waited", sleep, 3.0))
        await asyncio.gather(first, second)
        assert ended == ["waited", "tried again"]


@virtual_time
async def test_if_no_worker_is_left_to_try_the_loss_of_the_last_is_the_cause() -> None:
    worker = ScriptedWorker("a")
    async with managed(worker) as manager:
        assigned = asyncio.create_task(manager.assign(sleep, 3.0))
        await settle()
        worker.fail("gone")
        with fails(WorkerErrorCode.NO_WORKERS_AVAILABLE, "no worker to wait for: 1 failed") as raised:
            await assigned
        assert isinstance(raised.value.cause, WorkerError)
        assert raised.value.cause.code is WorkerErrorCode.WORKER_LOST


@virtual_time
async def test_the_managers_end_does_not_wait_for_further_attempts() -> None:
    config = unattended(backoff_base_ms=60_000, backoff_cap_ms=60_000)
    async with managed(ScriptedWorker("a"), config=config, retry_on=(ConnectionError,), rng=Highest()) as manager:
        assigned = asyncio.create_task(manager.assign(Flaky(ConnectionError("first")), 5))
        await settle()
    with pytest.raises(WorkerError, match="the manager is not running") as raised:
        await assigned
    assert now_s() == 0
    assert raised.value.code is WorkerErrorCode.NO_WORKERS_AVAILABLE
    assert "first" in str(raised.value.cause)


class Fussy(ScriptedWorker):
    """Refuses some tasks although it has free slots, without an event."""

    def __init__(self, worker_id: str, *refusals: WorkerErrorCode) -> None:
        super().__init__(worker_id)
        self.refusals = list(refusals)

    async def execute(self, task, value):
        if self.refusals:
            raise WorkerError(self.refusals.pop(0), "not now")
        return await super().execute(task, value)


@virtual_time
@pytest.mark.parametrize("code", [WorkerErrorCode.WORKER_NOT_READY, WorkerErrorCode.WORKER_AT_CAPACITY])
async def test_a_slot_that_a_worker_did_not_fill_is_free_again(code: WorkerErrorCode) -> None:
    async with managed(Fussy("a", code, code)) as manager:
        assert await manager.assign(double, 21, timeout_s=60.0) == 42
