"""Workers in this process: threads, cleaning up, and what cannot be ended."""

import asyncio
import contextvars
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from fairlane.workers import LocalWorker, WorkerError, WorkerErrorCode, WorkerHealth, WorkerStatus
from tests.support.virtual_time import virtual_time
from tests.support.worker_errors import fails
from tests.support.worker_gated import insist_for
from tests.support.worker_work import double, task, thread_name


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Opened at the test's end, so that no thread outlives it."""
    gate = threading.Event()
    yield gate
    gate.set()


def test_it_says_who_it_is() -> None:
    info = LocalWorker("w", capacity=4, weight=2, tags=["gpu"], metadata={"zone": "b"}).info
    assert (info.id, info.kind, info.capacity, info.weight) == ("w", "local", 4, 2)
    assert info.tags == {"gpu"}
    assert info.metadata == {"zone": "b"}


async def test_its_check_says_how_it_is() -> None:
    answers = [WorkerHealth(healthy=False, detail="no disk")]

    async def check() -> WorkerHealth:
        return answers.pop()

    worker = LocalWorker("w", check=check)
    await worker.start()
    assert await worker.health() == WorkerHealth(healthy=False, detail="no disk")
    with pytest.raises(IndexError):
        await worker.health()


async def test_threads_are_its_own_and_used_again() -> None:
    worker = LocalWorker("w", capacity=2)
    await worker.start()
    before = threading.active_count()
    names = {await worker.execute(task(thread_name), None) for _ in range(5)}
    assert names == {"fairlane-w"}
    assert threading.active_count() == before + 1
    await worker.stop()


async def test_blocking_work_sees_the_callers_context() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable")
    worker = LocalWorker("w")
    await worker.start()
    variable.set("seen")
    assert await worker.execute(task(lambda _: variable.get()), None) == "seen"


@virtual_time
async def test_a_stop_waits_for_cancelled_functions_to_clean_up() -> None:
    cleaned: list[str] = []

    async def work(_: object) -> None:
        try:
            await asyncio.sleep(1_000)
        finally:
            await asyncio.sleep(0.5)
            cleaned.append("up")

    worker = LocalWorker("w")
    await worker.start()
    call = asyncio.create_task(worker.execute(task(work), None))
    await asyncio.sleep(1)
    await worker.stop()
    assert cleaned == ["up"]
    assert call.done()


@virtual_time
async def test_a_stop_does_not_wait_for_ever(caplog: pytest.LogCaptureFixture) -> None:
    worker = LocalWorker("w")
    await worker.start()
    call = asyncio.create_task(worker.execute(task(insist_for(100)), None))
    await asyncio.sleep(1)
    await worker.stop()
    assert worker.status is WorkerStatus.STOPPED
    assert "worker w: 1 executions ignore their cancellation" in caplog.text
    with pytest.raises(WorkerError):
        await call


def test_a_stuck_thread_holds_up_neither_the_loop_nor_the_programs_end() -> None:
    program = """
import asyncio, threading
from fairlane.workers import LocalWorker, Task

async def main():
    worker = LocalWorker("w")
    await worker.start()
    began = threading.Event()
    def hang(_):
        began.set()
        threading.Event().wait()
    call = asyncio.create_task(worker.execute(Task(hang, task_id="t", created_s=0), None))
    while not began.is_set():
        await asyncio.sleep(0.001)
    call.cancel()

asyncio.run(main())
print("over")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("over\n", "")


async def test_work_may_stop_its_own_worker() -> None:
    worker = LocalWorker("w")

    async def stop(_: object) -> None:
        await worker.stop()

    await worker.start()
    with fails(WorkerErrorCode.WORKER_LOST):
        await worker.execute(task(stop), None)
    await worker.stop()
    await worker.start()
    assert await worker.execute(task(double), 21) == 42
