"""The ends of an attempt: its caller, its work, its slot; and a whole life in any interleaving."""

import asyncio
import gc
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from fairlane.telemetry import Telemetry
from fairlane.telemetry.names import ATTEMPTS, LOAD, WORKERS, Instrument
from fairlane.workers import WORKER_MOVES, Member, WorkerError, WorkerStatus
from fairlane.workers.members.metrics import SMOOTHING
from tests.support.virtual_time import settle, virtual_time
from tests.support.worker_gated import SILENT, Gated, S, begun, insist_for
from tests.support.worker_telemetry import Recording
from tests.support.worker_work import double, raise_it_async, task
from tests.support.worker_workers import ScriptedWorker, started


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


class Unrecorded(Telemetry):
    """Cannot count attempts."""

    def add(self, instrument: Instrument, amount: int, *values: str) -> None:
        """See Telemetry."""
        if instrument is ATTEMPTS:
            raise ValueError("no counter")


@virtual_time
async def test_an_attempt_that_cannot_be_recorded_is_answered_and_its_slot_is_freed() -> None:
    [worker] = await started(ScriptedWorker(telemetry=Unrecorded()))
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    assert await worker.execute(task(double), 21) == 42
    with pytest.raises(WorkerError, match="bad input"):
        await worker.execute(task(raise_it_async), ValueError("bad input"))
    assert (worker.load, worker.status) == (0, S.READY)


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
        assert call.cancelled() or call.exception() is None or isinstance(call.exception(), WorkerError)
    for before, now in zip([S.CREATED, *worker.path], worker.path, strict=False):
        assert now in WORKER_MOVES[before]
    assert not any(recording.values(WORKERS).values())
    assert not any(recording.values(LOAD).values())


@virtual_time
async def test_its_counts_go_on_and_its_averages_begin_anew() -> None:
    [worker] = await started(ScriptedWorker("a"))
    with pytest.raises(WorkerError):
        await worker.execute(task(raise_it_async), KeyError("once"))
    assert worker.metrics.error_rate == SMOOTHING
    worker.fail("gone")
    await worker.start()
    assert (worker.metrics.failures, worker.metrics.error_rate, worker.metrics.latency_s) == (1, None, None)
    await worker.execute(task(double), 1)
    assert (worker.metrics.successes, worker.metrics.failures, worker.metrics.error_rate) == (1, 1, 0.0)
