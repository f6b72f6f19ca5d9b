"""Starts, stops, failures and cancellations that overlap, and a second life in another event loop."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from fairlane.workers import (
    AbstractWorker,
    LocalWorker,
    Manager,
    SubprocessWorker,
    WorkerError,
    WorkerErrorCode,
    WorkerGroup,
    WorkerStatus,
)
from tests.support.virtual_time import settle, virtual_time
from tests.support.worker_errors import fails
from tests.support.worker_gated import Gated, S, begun, code_of
from tests.support.worker_work import Meeting, Unspeakable, meet, task

ERRORS = [(OSError("no disk"), "no disk"), (Unspeakable(), "Unspeakable"), (asyncio.CancelledError(), "CancelledError")]


@pytest.mark.parametrize(("error", "text"), ERRORS)
@virtual_time
async def test_starts_and_stops_that_fail_say_why_and_may_be_repeated(error: BaseException, text: str) -> None:
    worker = Gated()
    worker.start_error = error
    with fails(WorkerErrorCode.WORKER_START_FAILED, f"worker w did not start: {text}") as raised:
        await worker.start()
    assert raised.value.cause is error
    worker.start_error = None
    await worker.start()
    assert worker.path == [S.STARTING, S.FAILED, S.STARTING, S.READY]
    worker.stop_error = error
    first, second = begun(worker.stop()), begun(worker.stop())
    assert await code_of(first) is await code_of(second) is WorkerErrorCode.WORKER_STOP_FAILED
    with fails(WorkerErrorCode.WORKER_STOP_FAILED, f"worker w did not stop: {text}"):
        await worker.stop()
    with fails(WorkerErrorCode.WORKER_START_FAILED, text):
        await worker.start()
    assert worker.status is S.FAILED
    worker.stop_error = None
    await worker.stop()
    assert worker.status is S.STOPPED


@virtual_time
async def test_a_failure_lets_go_of_a_start_and_the_next_one_waits_for_its_end() -> None:
    worker = Gated()
    first = begun(worker.start())
    await settle()
    worker.fail("its process ended")
    second = begun(worker.start())
    with pytest.raises(WorkerError, match="its process ended"):
        await first
    await second
    assert worker.path == [S.STARTING, S.FAILED, S.STARTING, S.READY]
    assert worker.alive


@virtual_time
async def test_a_start_that_goes_on_although_given_up_changes_nothing() -> None:
    class Stubborn(Gated):
        async def _start(self) -> None:
            try:
                await super()._start()
            except asyncio.CancelledError:
                self.alive = True

    worker = Stubborn()
    first = begun(worker.start())
    await settle()
    worker.fail("no patience")
    assert await code_of(first) is WorkerErrorCode.WORKER_START_FAILED
    await settle()
    assert (worker.status, worker.alive) == (S.FAILED, True)
    await worker.start()
    assert worker.path == [S.STARTING, S.FAILED, S.STARTING, S.READY]


@virtual_time
async def test_a_start_that_is_cancelled_when_it_has_been_made_anew_leaves_the_new_one_alone() -> None:
    worker = Gated()
    first = begun(worker.start())
    await settle()
    worker.fail("once")
    second = begun(worker.start())
    await asyncio.sleep(0)
    first.cancel()
    await second
    assert worker.status is S.READY


@virtual_time
async def test_a_stop_ends_a_start() -> None:
    worker = Gated()
    start = begun(worker.start())
    await settle()
    await worker.stop(grace_s=60)
    assert await code_of(start) is WorkerErrorCode.WORKER_START_FAILED
    assert worker.path == [S.STARTING, S.STOPPED]
    assert not worker.alive


@virtual_time
async def test_one_that_is_being_stopped_neither_starts_nor_fails() -> None:
    worker = Gated()
    await worker.start()
    worker.fail("once")
    stop = begun(worker.stop())
    await settle()
    assert await code_of(begun(worker.start())) is WorkerErrorCode.ILLEGAL_TRANSITION
    await stop
    assert worker.path == [S.STARTING, S.READY, S.FAILED, S.STOPPED]

    await worker.start()
    stop = begun(worker.stop())
    await settle()
    worker.fail("its process ended, as it should")
    await stop
    assert worker.path[-4:] == [S.STARTING, S.READY, S.DRAINING, S.STOPPED]


@virtual_time
async def test_stops_share_one_end_and_the_shortest_grace_time_holds() -> None:
    worker = Gated()
    await worker.start()
    call = begun(worker.execute(task(lambda _: asyncio.sleep(1_000)), None))
    await settle()
    patient, hasty = begun(worker.stop(grace_s=100)), begun(worker.stop(grace_s=10))
    late = begun(asyncio.sleep(10.5))
    await late
    third = begun(worker.stop(grace_s=100))
    await asyncio.gather(patient, hasty, third)
    assert asyncio.get_running_loop().time() == pytest.approx(12)
    assert await code_of(call) is WorkerErrorCode.WORKER_LOST
    assert worker.path == [S.STARTING, S.READY, S.DRAINING, S.STOPPED]


@virtual_time
async def test_a_cancelled_stop_leaves_it_draining_and_a_later_one_goes_on_by_itself() -> None:
    worker = Gated()
    await worker.start()
    call = begun(worker.execute(task(lambda _: asyncio.sleep(5, "done")), None))
    await settle()
    stop = begun(worker.stop(grace_s=60))
    await settle()
    stop.cancel()
    assert await call == "done"
    assert (worker.status, worker.alive) == (S.DRAINING, True)

    stop = begun(worker.stop())
    await settle()
    stop.cancel()
    await asyncio.wait({stop})
    assert stop.cancelled()
    await asyncio.sleep(2)
    assert (worker.status, worker.alive) == (S.STOPPED, False)


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


def test_a_worker_that_has_not_stopped_or_still_runs_something_cannot_start_in_another_loop() -> None:
    worker = LocalWorker("w")
    gate = threading.Event()
    began = threading.Event()

    def wait(_: None) -> None:
        began.set()
        gate.wait()

    asyncio.run(worker.start())
    with fails(WorkerErrorCode.ILLEGAL_TRANSITION, "worker w belongs to another event loop: stop it there"):
        asyncio.run(worker.start())
    assert worker.status is WorkerStatus.READY
    asyncio.run(worker.stop())

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
