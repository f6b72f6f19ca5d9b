"""Starts, stops, failures and cancellations that come while others are under way."""

import asyncio
import contextlib
import gc
import logging
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from fairlane.pool.abstract_worker import AbstractWorker
from fairlane.pool.errors import PoolError, PoolErrorCode
from fairlane.pool.status import WORKER_MOVES, WorkerStatus
from fairlane.pool.worker import Member, WorkerHealth, WorkerInfo
from fairlane.telemetry.names import LOAD, WORKERS
from tests.support.pool_telemetry import Recording
from tests.support.pool_work import task
from tests.support.virtual_time import settle, virtual_time

S = WorkerStatus
SILENT = logging.Logger("silent", logging.CRITICAL)


class Gated(AbstractWorker):
    """Its transport takes as long as it is told to, and notes when it lives."""

    def __init__(self, recording: Recording | None = None, logger: logging.Logger | None = None) -> None:
        info = WorkerInfo.of(id="w", kind="gated", capacity=2)
        super().__init__(info, telemetry=recording.telemetry if recording else None, logger=logger)
        self.start_takes_s = 1.0
        self.stop_takes_s = 1.0
        self.start_error: BaseException | None = None
        self.stop_error: BaseException | None = None
        self.alive = False
        self.acting = False
        self.seen: list[WorkerStatus] = []
        self.watch(lambda member: self.seen.append(member.status))

    async def _start(self) -> None:
        assert not self.alive
        self.alive = await self._act(self.start_takes_s, self.start_error)

    async def _stop(self) -> None:
        await self._act(self.stop_takes_s, self.stop_error)
        self.alive = False

    async def _act(self, seconds: float, error: BaseException | None) -> bool:
        assert not self.acting, "the transport starts or stops twice at once"
        self.acting = True
        try:
            await asyncio.sleep(seconds)
            if error is not None:
                raise error
        finally:
            self.acting = False
        return True

    async def _check(self) -> WorkerHealth:
        return WorkerHealth(healthy=True)

    async def _execute(self, task: Any, value: Any) -> Any:
        assert self.alive
        return await task.execute(value)

    @property
    def path(self) -> list[WorkerStatus]:
        """The statuses it has had, each change once."""
        return [now for before, now in zip([S.CREATED, *self.seen], self.seen, strict=False) if before is not now]


def begun(call: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
    return asyncio.create_task(call)


def insist_for(seconds: float) -> Callable[[object], Coroutine[Any, Any, None]]:
    """Return work that goes on for so long, and then fails, whoever cancels it."""

    async def insist(_: object) -> None:
        gate = asyncio.Event()
        asyncio.get_running_loop().call_later(seconds, gate.set)
        while not gate.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await gate.wait()
        raise ValueError("too late for anybody")

    return insist


async def code_of(call: "asyncio.Task[Any]") -> PoolErrorCode:
    with pytest.raises(PoolError) as error:
        await call
    return PoolErrorCode(error.value.code)


@virtual_time
async def test_a_start_that_fails_says_why_and_may_be_tried_again() -> None:
    worker = Gated()
    worker.start_error = OSError("no disk")
    with pytest.raises(PoolError, match="worker w did not start: no disk") as error:
        await worker.start()
    assert error.value.code is PoolErrorCode.WORKER_START_FAILED
    assert isinstance(error.value.cause, OSError)
    worker.start_error = None
    await worker.start()
    assert worker.path == [S.STARTING, S.FAILED, S.STARTING, S.READY]


@virtual_time
async def test_a_transport_that_cancels_itself_has_failed() -> None:
    worker = Gated()
    worker.start_error = asyncio.CancelledError()
    with pytest.raises(PoolError, match="CancelledError"):
        await worker.start()
    worker.start_error = None
    await worker.start()
    worker.stop_error = asyncio.CancelledError()
    with pytest.raises(PoolError, match="CancelledError"):
        await worker.stop()
    assert worker.status is S.FAILED


@virtual_time
async def test_a_failure_lets_go_of_a_start_and_the_next_one_waits_for_its_end() -> None:
    worker = Gated()
    first = begun(worker.start())
    await settle()
    worker.fail("its process ended")
    second = begun(worker.start())
    with pytest.raises(PoolError, match="its process ended"):
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
    assert await code_of(first) is PoolErrorCode.WORKER_START_FAILED
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
    assert await code_of(start) is PoolErrorCode.WORKER_START_FAILED
    assert worker.path == [S.STARTING, S.STOPPED]
    assert not worker.alive


@virtual_time
async def test_one_that_is_being_stopped_neither_starts_nor_fails() -> None:
    worker = Gated()
    await worker.start()
    worker.fail("once")
    stop = begun(worker.stop())
    await settle()
    assert await code_of(begun(worker.start())) is PoolErrorCode.ILLEGAL_TRANSITION
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
    assert await code_of(call) is PoolErrorCode.WORKER_LOST
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
    assert await code_of(first) is await code_of(second) is PoolErrorCode.WORKER_STOP_FAILED
    assert worker.status is S.FAILED
    with pytest.raises(PoolError, match="worker w did not stop: still there"):
        await worker.stop()
    with pytest.raises(PoolError, match="did not start: still there"):
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
    assert await code_of(call) is PoolErrorCode.WORKER_LOST
    await worker.start()
    await stop
    assert worker.path == [S.STARTING, S.READY, S.DRAINING, S.FAILED, S.STARTING, S.READY, S.DRAINING, S.STOPPED]


@virtual_time
async def test_a_watcher_that_fails_hurts_nobody(caplog: pytest.LogCaptureFixture) -> None:
    def refuse(_: Member) -> None:
        raise ValueError("no")

    worker = Gated()
    seen: list[WorkerStatus] = []
    worker.watch(refuse)
    end = worker.watch(lambda member: seen.append(member.status))
    await worker.start()
    end()
    end()
    await worker.stop()
    assert seen == [S.STARTING, S.READY]
    assert "a watcher of worker w failed" in caplog.text


@virtual_time
async def test_a_caller_is_let_go_although_the_work_ignores_its_cancellation() -> None:
    worker = Gated()
    await worker.start()
    call = begun(worker.execute(task(insist_for(100)), None))
    await settle()
    call.cancel()
    await asyncio.wait({call})
    assert call.cancelled()
    assert worker.load == 1
    await worker.drain()
    assert asyncio.get_running_loop().time() == pytest.approx(101)
    assert worker.load == 0


@virtual_time
async def test_a_slot_is_kept_as_long_as_the_transport_says() -> None:
    class Keeping(Gated):
        async def _execute(self, task: Any, value: asyncio.Future[None]) -> Any:
            try:
                await asyncio.sleep(1_000)
            finally:
                self._keep_slot(value)

    worker = Keeping()
    await worker.start()
    ends: list[asyncio.Future[None]] = [asyncio.get_running_loop().create_future() for _ in range(2)]
    calls = [begun(worker.execute(task(print), until)) for until in ends]
    await settle()
    for call in calls:
        call.cancel()
    await settle()
    assert [call.cancelled() for call in calls] == [True, True]
    assert (worker.load, worker.status) == (2, S.BUSY)
    ends[0].set_result(None)
    await settle()
    assert (worker.load, worker.status) == (1, S.READY)
    ends[1].cancel()
    await worker.drain()
    assert worker.load == 0


@virtual_time
async def test_no_outcome_is_reported_as_never_retrieved() -> None:
    reported: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["message"]))
    worker = Gated()
    start = begun(worker.start())
    await settle()
    worker.fail("at the same time")
    start.cancel()
    await worker.start()

    stubborn = begun(worker.execute(task(insist_for(10)), None))
    call = begun(worker.execute(task(lambda _: asyncio.sleep(10)), None))
    await settle()
    stubborn.cancel()
    worker.fail("at the same time")
    call.cancel()
    await worker.stop()
    await worker.drain()
    del start, stubborn, call
    gc.collect()
    assert reported == []


@virtual_time
async def test_a_result_that_comes_with_the_cancellation_is_dropped() -> None:
    worker = Gated()
    await worker.start()
    gate = asyncio.Event()
    call = begun(worker.execute(task(lambda _: gate.wait()), None))
    await settle()
    worker.watch(lambda member: call.cancel() if member.load == 0 else None)
    gate.set()
    await asyncio.wait({call})
    assert call.cancelled()
    assert (worker.load, worker.metrics.successes) == (0, 1)


@virtual_time
async def test_the_figures_of_its_life_come_out_even() -> None:
    recording = Recording()
    worker = Gated(recording)
    assert recording.values(WORKERS) == {}
    await worker.start()
    call = begun(worker.execute(task(lambda _: asyncio.sleep(5)), None))
    await settle()
    assert recording.values(LOAD) == {("gated",): 1}
    await call
    await worker.stop()
    assert recording.values(LOAD) == {("gated",): 0}
    assert set(recording.values(WORKERS).values()) == {0}


# -- all of it, at any time ------------------------------------------------------------------------------------

ACTIONS: dict[str, Callable[[Gated], Coroutine[Any, Any, Any]]] = {
    "start": lambda worker: worker.start(),
    "drain": lambda worker: worker.drain(),
    "stop": lambda worker: worker.stop(grace_s=1.5),
    "stop at once": lambda worker: worker.stop(),
    "execute": lambda worker: worker.execute(task(lambda _: asyncio.sleep(1.25)), None),
}
STEPS = st.lists(
    st.tuples(
        st.sampled_from([*ACTIONS, "fail", "cancel", "break starts", "mend starts"]),
        st.sampled_from([None, 0.0, 0.25, 1.0, 3.0]),
        st.integers(0, 5),
    ),
    max_size=25,
)


@settings(deadline=None, max_examples=300)
@given(STEPS)
@virtual_time
async def test_whatever_is_called_and_when_it_can_be_stopped(steps: list[tuple[str, float | None, int]]) -> None:
    recording = Recording()
    worker = Gated(recording, SILENT)
    calls: list[asyncio.Task[Any]] = []
    for step, pause_s, which in steps:
        if step in ACTIONS:
            calls.append(begun(ACTIONS[step](worker)))
        elif step == "fail":
            worker.fail("so it is")
        elif step == "cancel" and calls:
            calls[-1 - which % len(calls)].cancel()
        else:
            worker.start_error = OSError("broken") if step == "break starts" else None
        if pause_s is not None:
            await asyncio.sleep(pause_s)
    async with asyncio.timeout(1_000):
        await asyncio.gather(*calls, return_exceptions=True)
        await worker.stop()

    assert (worker.status, worker.load, worker.alive) == (S.STOPPED, 0, False)
    for call in calls:
        assert call.cancelled() or call.exception() is None or isinstance(call.exception(), PoolError)
    for before, now in zip([S.CREATED, *worker.path], worker.path, strict=False):
        assert now in WORKER_MOVES[before]
    assert not any(recording.values(WORKERS).values())
    assert not any(recording.values(LOAD).values())
