"""Starts, stops, failures and cancellations that come while others are under way."""

import asyncio

import pytest

from fairlane.workers.errors import WorkerError, WorkerErrorCode
from tests.support.virtual_time import settle, virtual_time
from tests.support.worker_gated import Gated, S, begun, code_of, insist_for
from tests.support.worker_work import Unspeakable, task


@virtual_time
async def test_a_start_that_fails_says_why_and_may_be_tried_again() -> None:
    worker = Gated()
    worker.start_error = OSError("no disk")
    with pytest.raises(WorkerError, match="worker w did not start: no disk") as error:
        await worker.start()
    assert error.value.code is WorkerErrorCode.WORKER_START_FAILED
    assert isinstance(error.value.cause, OSError)
    worker.start_error = None
    await worker.start()
    assert worker.path == [S.STARTING, S.FAILED, S.STARTING, S.READY]


@virtual_time
async def test_starts_and_stops_that_raise_what_cannot_be_shown_have_failed() -> None:
    worker = Gated()
    worker.start_error = Unspeakable()
    with pytest.raises(WorkerError, match="worker w did not start: Unspeakable") as error:
        await worker.start()
    assert isinstance(error.value.cause, Unspeakable)
    worker.start_error = None
    await worker.start()
    worker.stop_error = Unspeakable()
    with pytest.raises(WorkerError, match="worker w did not stop: Unspeakable"):
        await worker.stop()
    assert worker.status is S.FAILED


@virtual_time
async def test_a_transport_that_cancels_itself_has_failed() -> None:
    worker = Gated()
    worker.start_error = asyncio.CancelledError()
    with pytest.raises(WorkerError, match="CancelledError"):
        await worker.start()
    worker.start_error = None
    await worker.start()
    worker.stop_error = asyncio.CancelledError()
    with pytest.raises(WorkerError, match="CancelledError"):
        await worker.stop()
    assert worker.status is S.FAILED


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
async def test_a_cancelled_start_has_failed() -> None:
    worker = Gated()
    start = begun(worker.start())
    await settle()
    start.cancel()
    await asyncio.wait({start})
    assert start.cancelled()
    assert worker.status is S.FAILED
    await worker.start()
    assert worker.status is S.READY


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
async def test_a_start_may_be_cancelled_too_late() -> None:
    worker = Gated()
    start = begun(worker.start())
    worker.watch(lambda member: start.cancel() if member.status is S.READY else None)
    await asyncio.wait({start})
    assert start.cancelled()
    assert (worker.status, worker.alive) == (S.READY, True)


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
async def test_a_stop_that_comes_when_all_is_lost_waits_for_nothing_else() -> None:
    worker = Gated()
    await worker.start()
    begun(worker.execute(task(insist_for(100)), None)).add_done_callback(lambda call: call.exception())
    await settle()
    first = begun(worker.stop())
    await settle()
    await asyncio.gather(first, worker.stop(grace_s=50))
    assert asyncio.get_running_loop().time() == pytest.approx(2)


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


@virtual_time
async def test_a_stop_that_fails_says_why_and_may_be_tried_again() -> None:
    worker = Gated()
    await worker.start()
    worker.stop_error = OSError("still there")
    first, second = begun(worker.stop()), begun(worker.stop())
    assert await code_of(first) is await code_of(second) is WorkerErrorCode.WORKER_STOP_FAILED
    assert worker.status is S.FAILED
    with pytest.raises(WorkerError, match="worker w did not stop: still there"):
        await worker.stop()
    with pytest.raises(WorkerError, match="did not start: still there"):
        await worker.start()
    worker.stop_error = None
    await worker.stop()
    assert worker.status is S.STOPPED


@virtual_time
async def test_one_that_is_started_again_while_it_drains_is_stopped_all_the_same() -> None:
    worker = Gated()
    await worker.start()
    call = begun(worker.execute(task(insist_for(50)), None))
    await settle()
    stop = begun(worker.stop(grace_s=20))
    await settle()
    worker.fail("while it drains")
    assert await code_of(call) is WorkerErrorCode.WORKER_LOST
    await worker.start()
    await stop
    assert worker.path == [S.STARTING, S.READY, S.DRAINING, S.FAILED, S.STARTING, S.READY, S.DRAINING, S.STOPPED]
