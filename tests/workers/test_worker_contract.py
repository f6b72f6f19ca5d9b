"""What every worker promises, whatever it executes in."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from fairlane.workers import (
    AbstractWorker,
    LocalWorker,
    Member,
    SubprocessWorker,
    Task,
    WorkerError,
    WorkerErrorCode,
    WorkerInfo,
    WorkerStatus,
)
from fairlane.workers.members.metrics import SMOOTHING
from tests.support.worker_errors import fails
from tests.support.worker_hostile import ERRORS, raise_named, raise_named_async
from tests.support.worker_work import (
    AsyncTripler,
    Doubler,
    Meeting,
    Tripler,
    double,
    double_in_thread,
    double_later,
    lose_a_worker,
    meet,
    meet_in_thread,
    raise_it,
    raise_it_async,
    task,
)

TRANSPORTS: dict[str, Callable[..., AbstractWorker]] = {"local": LocalWorker, "subprocess": SubprocessWorker}


@pytest.fixture(params=TRANSPORTS)
async def worker(request: pytest.FixtureRequest) -> AsyncIterator[AbstractWorker]:
    """One with two slots that has not been started."""
    worker = TRANSPORTS[request.param]("w", capacity=2)
    yield worker
    await worker.stop()


@pytest.fixture
async def ready(worker: AbstractWorker) -> AbstractWorker:
    await worker.start()
    return worker


@pytest.fixture
async def meeting() -> AsyncIterator[Meeting]:
    async with Meeting() as meeting:
        yield meeting


def running(worker: AbstractWorker, work: Callable[[Any], Any], value: object) -> "asyncio.Task[Any]":
    return asyncio.create_task(worker.execute(task(work), value))


async def until(worker: AbstractWorker, holds: Callable[[Member], bool]) -> None:
    """Return when it holds; asked after each change."""
    held = asyncio.Event()

    def look(member: Member) -> None:
        if holds(member):
            held.set()

    end = worker.watch(look)
    look(worker)
    async with asyncio.timeout(20):
        await held.wait()
    end()


async def test_it_lives_and_can_live_again(worker: AbstractWorker) -> None:
    seen = [worker.status]
    worker.watch(lambda member: seen.append(member.status))
    for _ in range(2):
        await worker.start()
        assert await worker.execute(task(double), 21) == 42
        await worker.stop()
    distinct = [now for before, now in zip([None, *seen], seen, strict=False) if before is not now]
    life = [WorkerStatus.STARTING, WorkerStatus.READY, WorkerStatus.DRAINING, WorkerStatus.STOPPED]
    assert distinct == [WorkerStatus.CREATED, *life, *life]


async def test_one_that_was_never_started_just_stops(worker: AbstractWorker) -> None:
    await worker.stop()
    await worker.stop()
    assert worker.status is WorkerStatus.STOPPED


async def test_it_is_well_while_it_is_at_work(worker: AbstractWorker) -> None:
    assert not (await worker.health()).healthy
    await worker.start()
    assert (await worker.health()).healthy
    await worker.stop()
    health = await worker.health()
    assert not health.healthy
    assert "stopped" in health.detail


async def test_it_executes_every_kind_of_function(ready: AbstractWorker) -> None:
    works: list[Callable[[int], Any]] = [double, double_in_thread, double_later, Doubler()]
    for number, work in enumerate(works, 1):
        assert await ready.execute(task(work), 21) == 42, work
        assert (ready.metrics.successes, ready.metrics.failures, ready.metrics.error_rate) == (number, 0, 0.0)
        assert ready.load == 0


async def test_what_the_work_raises_is_the_cause(ready: AbstractWorker) -> None:
    for failures, work in enumerate((raise_it, raise_it_async), 1):
        with fails(WorkerErrorCode.TASK_FAILED, "task t failed on worker w: KeyError\\('no such'\\)") as error:
            await ready.execute(task(work), KeyError("no such"))
        assert not error.value.retryable
        assert isinstance(error.value.cause, KeyError)
        assert (ready.metrics.successes, ready.metrics.failures) == (0, failures)
        assert ready.metrics.error_rate == pytest.approx(1 - (1 - SMOOTHING) ** failures)
        assert (ready.status, ready.load) == (WorkerStatus.READY, 0)


async def test_work_that_ends_the_program_has_failed(ready: AbstractWorker) -> None:
    for work, error in itertools.product((raise_it, raise_it_async), (SystemExit(3), StopIteration(3))):
        with fails(WorkerErrorCode.TASK_FAILED) as failed:
            await ready.execute(task(work), error)
        assert isinstance(failed.value.cause, RuntimeError)
        assert await ready.execute(task(double), 21) == 42


async def test_a_worker_error_raised_by_the_work_is_the_works_own(ready: AbstractWorker) -> None:
    with fails(WorkerErrorCode.TASK_FAILED) as error:
        await ready.execute(task(lose_a_worker), None)
    assert isinstance(error.value.cause, WorkerError)
    assert error.value.cause.code is WorkerErrorCode.WORKER_LOST


async def test_work_that_cancels_itself_is_told_from_a_cancelled_caller(ready: AbstractWorker) -> None:
    with fails(WorkerErrorCode.TASK_CANCELLED):
        await ready.execute(task(raise_it_async), asyncio.CancelledError())
    assert (ready.metrics.successes, ready.metrics.failures) == (0, 0)


async def test_slots_are_taken_and_given_back(ready: AbstractWorker, meeting: Meeting) -> None:
    for work in (meet, meet_in_thread):
        await take_and_give_back(ready, meeting, work)


async def take_and_give_back(ready: AbstractWorker, meeting: Meeting, work: Callable[[Any], Any]) -> None:
    first, second = running(ready, work, meeting.address), running(ready, work, meeting.address)
    guests = [await meeting.guest(), await meeting.guest()]
    assert (ready.status, ready.load) == (WorkerStatus.BUSY, 2)
    with fails(WorkerErrorCode.WORKER_AT_CAPACITY, "all 2 slots of worker w are in use") as error:
        await ready.execute(task(double), 1)
    assert error.value.retryable

    guests[0].release()
    await asyncio.wait({first, second}, return_when=asyncio.FIRST_COMPLETED)
    assert (ready.status, ready.load) == (WorkerStatus.READY, 1)
    assert await ready.execute(task(double), 21) == 42
    guests[1].release()
    assert await asyncio.gather(first, second) == ["met", "met"]
    assert (ready.status, ready.load) == (WorkerStatus.READY, 0)


async def test_capacity_may_change_while_it_works(ready: AbstractWorker, meeting: Meeting) -> None:
    calls = [running(ready, meet, meeting.address) for _ in range(2)]
    guests = [await meeting.guest() for _ in calls]
    ready.update(WorkerInfo.of(id="w", kind=ready.info.kind, capacity=3, weight=7))
    assert ready.status is WorkerStatus.READY
    calls.append(running(ready, meet_in_thread, meeting.address))
    guests.append(await meeting.guest())
    assert ready.status is WorkerStatus.BUSY
    ready.update(WorkerInfo.of(id="w", kind=ready.info.kind, capacity=1))
    guests[0].release()
    guests[1].release()
    await asyncio.wait(calls[:2])
    assert (ready.status, ready.load) == (WorkerStatus.BUSY, 1)
    guests[2].release()
    await asyncio.wait(calls)
    assert ready.status is WorkerStatus.READY


async def test_it_takes_nothing_before_its_start_while_it_drains_and_after_its_end(
    worker: AbstractWorker, meeting: Meeting
) -> None:
    async def refused() -> None:
        with fails(WorkerErrorCode.WORKER_NOT_READY, f"worker w is {worker.status}"):
            await worker.execute(task(double), 1)

    await refused()
    await worker.start()
    call = running(worker, meet, meeting.address)
    guest = await meeting.guest()
    draining = asyncio.create_task(worker.drain())
    await until(worker, lambda member: member.status is WorkerStatus.DRAINING)
    await refused()
    assert not draining.done()
    guest.release()
    await draining
    assert await call == "met"
    await worker.stop()
    await refused()


async def test_a_cancelled_call_ends_the_work(ready: AbstractWorker, meeting: Meeting) -> None:
    call = running(ready, meet, meeting.address)
    guest = await meeting.guest()
    call.cancel()
    await asyncio.wait({call})
    assert call.cancelled()
    await guest.gone()
    await until(ready, lambda member: member.load == 0)
    assert (ready.metrics.successes, ready.metrics.failures) == (0, 0)


async def test_a_call_may_be_cancelled_before_it_has_begun(ready: AbstractWorker) -> None:
    for work in (meet, meet_in_thread):
        call = running(ready, work, ("nowhere.invalid", 1))
        for _ in range(3):
            await asyncio.sleep(0)
            call.cancel()
        await asyncio.wait({call})
    await until(ready, lambda member: member.load == 0)
    assert await ready.execute(task(double), 21) == 42


async def test_a_blocking_function_cannot_be_ended_and_keeps_its_slot(ready: AbstractWorker, meeting: Meeting) -> None:
    call = running(ready, meet_in_thread, meeting.address)
    guest = await meeting.guest()
    call.cancel()
    await asyncio.wait({call})
    assert call.cancelled()
    assert ready.load == 1
    assert await ready.execute(task(double_in_thread), 21) == 42
    guest.release()
    await until(ready, lambda member: member.load == 0)


@pytest.mark.parametrize("work", [meet, meet_in_thread])
async def test_what_runs_on_a_failed_worker_is_lost(
    ready: AbstractWorker, meeting: Meeting, work: Callable[[Any], Any]
) -> None:
    calls = [running(ready, work, meeting.address) for _ in range(2)]
    guests = [await meeting.guest() for _ in calls]
    ready.fail("it is said so")
    await asyncio.wait(calls)
    for call in calls:
        error = call.exception()
        assert isinstance(error, WorkerError)
        assert error.code is WorkerErrorCode.WORKER_LOST
        assert error.retryable
    assert ready.metrics.failures == 2
    for guest in guests:
        guest.release()
    await until(ready, lambda member: member.load == 0)


async def test_a_stop_lets_what_runs_go_on_for_the_grace_time(ready: AbstractWorker, meeting: Meeting) -> None:
    call = running(ready, meet, meeting.address)
    guest = await meeting.guest()
    stopping = asyncio.create_task(ready.stop(grace_s=60))
    await until(ready, lambda member: member.status is WorkerStatus.DRAINING)
    guest.release()
    await stopping
    assert await call == "met"
    assert ready.status is WorkerStatus.STOPPED


async def test_a_task_that_executes_in_its_own_way_does_so_everywhere(ready: AbstractWorker) -> None:
    for kind, work in itertools.product((Tripler, AsyncTripler), (double, double_in_thread)):
        assert await ready.execute(kind(work, task_id="t", created_s=0), 14) == 42, (kind, work)


async def test_no_error_of_the_work_keeps_its_caller_or_its_slot(ready: AbstractWorker) -> None:
    for work, (name, make) in itertools.product((raise_named, raise_named_async), ERRORS.items()):
        task = Task(work, task_id=name, created_s=0)
        async with asyncio.timeout(20):
            with fails(WorkerErrorCode.TASK_FAILED, f"task {name} failed on worker w: ") as error:
                await ready.execute(task, name)
        # One that does not survive the way from a process, or is no Exception there, comes as an error that names it.
        cause, kind = error.value.cause, type(make())
        assert type(cause) is kind or kind.__name__ in str(cause)
        assert (ready.status, ready.load) == (WorkerStatus.READY, 0)
