"""Workers with their own process: its death, what cannot be sent, and that no process is left behind."""

import asyncio
import os
import signal
import subprocess
import sys
import types
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from fairlane.workers import Member, SubprocessWorker, WorkerError, WorkerErrorCode, WorkerStatus
from fairlane.workers.transports import child_process
from tests.support import worker_work
from tests.support.worker_errors import fails
from tests.support.worker_hostile import LOADING, Unloadable, Unpicklable, take
from tests.support.worker_work import Meeting, double, double_in_thread, meet, meet_in_thread, process_id, task

ROOT = Path(__file__).parents[2]


@pytest.fixture
async def worker() -> AsyncIterator[SubprocessWorker]:
    worker = SubprocessWorker("w", capacity=3)
    await worker.start()
    yield worker
    await worker.stop()


@pytest.fixture
async def meeting() -> AsyncIterator[Meeting]:
    async with Meeting() as meeting:
        yield meeting


def has_ended(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


async def until_failed(worker: SubprocessWorker) -> None:
    failed = asyncio.Event()

    def look(member: Member) -> None:
        if member.status is WorkerStatus.FAILED:
            failed.set()

    end = worker.watch(look)
    look(worker)
    async with asyncio.timeout(20):
        await failed.wait()
    end()


async def test_work_runs_in_one_other_process(worker: SubprocessWorker) -> None:
    pids = {await worker.execute(task(process_id), None) for _ in range(2)}
    assert pids == {worker.pid}
    assert worker.pid != os.getpid()
    assert str(worker.pid) in (await worker.health()).detail
    pid = worker.pid
    await worker.stop()
    assert worker.pid is None
    assert pid is not None
    assert has_ended(pid)


async def test_what_the_work_prints_is_nobodys_protocol(
    worker: SubprocessWorker, capfd: pytest.CaptureFixture[str]
) -> None:
    await worker.execute(task(worker_work.write_to_stdout), "\x00\x00 anything")
    assert await worker.execute(task(double), 21) == 42


async def test_large_inputs_and_outputs_get_through(worker: SubprocessWorker) -> None:
    value = bytes(range(256)) * 40_000
    assert await asyncio.gather(*(worker.execute(task(double), value) for _ in range(3))) == [value * 2] * 3  # type: ignore[arg-type]


async def test_the_traceback_comes_along(worker: SubprocessWorker) -> None:
    with pytest.raises(WorkerError) as error:
        await worker.execute(task(worker_work.raise_it), KeyError("no such"))
    (note,) = error.value.cause.__notes__  # type: ignore[union-attr]
    assert f"process {worker.pid}" in note
    assert "raise_it" in note


async def test_work_that_the_process_cannot_import_is_refused(
    worker: SubprocessWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = types.ModuleType("only_here")
    exec("def work(value): return value", module.__dict__)
    monkeypatch.setitem(sys.modules, "only_here", module)
    with fails(WorkerErrorCode.INVALID_CONFIGURATION, r"No module named 'only_here'.*importable"):
        await worker.execute(task(module.work), 1)
    assert await worker.execute(task(double), 21) == 42


async def test_an_output_that_does_not_pickle_is_a_failure_of_the_task(worker: SubprocessWorker) -> None:
    with fails(WorkerErrorCode.TASK_FAILED, "lambda"):
        await worker.execute(task(worker_work.lambda_of), 1)


async def test_what_runs_in_a_killed_process_is_lost_at_once(worker: SubprocessWorker, meeting: Meeting) -> None:
    calls = [asyncio.create_task(worker.execute(task(work), meeting.address)) for work in (meet, meet_in_thread)]
    for _ in calls:
        await meeting.guest()
    pid = worker.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    await asyncio.wait(calls)
    for call in calls:
        error = call.exception()
        assert isinstance(error, WorkerError)
        assert error.code is WorkerErrorCode.WORKER_LOST
    assert worker.status is WorkerStatus.FAILED
    await worker.drain()
    assert worker.load == 0

    await worker.start()
    assert worker.pid != pid
    assert await worker.execute(task(double), 21) == 42


async def test_a_death_is_noticed_although_a_fork_of_it_lives_on(worker: SubprocessWorker, meeting: Meeting) -> None:
    await worker.execute(task(worker_work.meet_as_fork), meeting.address)
    fork = await meeting.guest()
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGKILL)
    await until_failed(worker)
    fork.release()


async def test_one_that_has_closed_its_connection_is_ended(
    worker: SubprocessWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_process, "END_S", 0.05)
    pid = worker.pid
    assert pid is not None
    with fails(WorkerErrorCode.WORKER_LOST):
        await worker.execute(task(worker_work.close_everything), None)
    assert has_ended(pid)


async def test_a_check_of_a_process_that_hangs_ends_with_the_process(worker: SubprocessWorker) -> None:
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGSTOP)
    check = asyncio.create_task(worker.health())
    given_up = asyncio.create_task(worker.health())
    await asyncio.wait({check}, timeout=0.05)
    assert not check.done()
    given_up.cancel()
    os.kill(worker.pid, signal.SIGCONT)
    assert (await check).healthy

    os.kill(worker.pid, signal.SIGSTOP)
    check = asyncio.create_task(worker.health())
    await asyncio.sleep(0)
    os.kill(worker.pid, signal.SIGKILL)
    with pytest.raises(ChildProcessError, match="exited with status -9"):
        await check


async def test_a_process_that_does_not_come_up_is_a_failed_start(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = SubprocessWorker("w")
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with fails(WorkerErrorCode.WORKER_START_FAILED, "exited with status 1"):
        await worker.start()
    monkeypatch.setattr(sys, "executable", "/no/such/file")
    with pytest.raises(WorkerError, match="No such file"):
        await worker.start()
    monkeypatch.undo()
    await worker.start()
    assert await worker.execute(task(double), 21) == 42
    await worker.stop()


def children() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if "subprocess_child" in " ".join(child.cmdline())]


async def test_a_start_without_a_connection_leaves_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(*_: object, **__: object) -> None:
        raise OSError("too many open files")

    worker = SubprocessWorker("w")
    monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", refuse)
    with pytest.raises(WorkerError, match="too many open files"):
        await worker.start()
    assert children() == []


async def test_a_start_that_is_cancelled_leaves_no_process() -> None:
    for turns in range(0, 40, 8):
        worker = SubprocessWorker("w")
        start = asyncio.create_task(worker.start())
        for _ in range(turns):
            await asyncio.sleep(0.002)
        start.cancel()
        await asyncio.wait({start})
        await worker.stop()
        assert worker.status is WorkerStatus.STOPPED
    assert children() == []


async def test_a_stop_ends_blocking_functions_and_a_process_that_hangs(
    worker: SubprocessWorker, meeting: Meeting, monkeypatch: pytest.MonkeyPatch
) -> None:
    for stopped_first in (False, True):
        call = asyncio.create_task(worker.execute(task(meet_in_thread), meeting.address))
        guest = await meeting.guest()
        call.cancel()
        await asyncio.wait({call})
        assert worker.load == 1
        pid = worker.pid
        assert pid is not None
        if stopped_first:
            monkeypatch.setattr(child_process, "END_S", 0.05)
            os.kill(pid, signal.SIGSTOP)
        await worker.stop()
        assert has_ended(pid)
        await guest.gone()
        assert (worker.status, worker.load) == (WorkerStatus.STOPPED, 0)
        await worker.start()


async def test_a_loop_that_is_blocked_does_not_keep_the_process(worker: SubprocessWorker, meeting: Meeting) -> None:
    call = asyncio.create_task(worker.execute(task(worker_work.block_the_loop), meeting.address))
    guest = await meeting.guest()
    pid = worker.pid
    assert pid is not None
    await worker.stop()
    assert has_ended(pid)
    await guest.gone()
    with pytest.raises(WorkerError):
        await call


async def test_its_health_while_it_is_being_stopped(worker: SubprocessWorker) -> None:
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGSTOP)
    stop = asyncio.create_task(worker.stop())
    while worker.pid is not None:
        await asyncio.sleep(0)
    health = await worker.health()
    assert not health.healthy
    await stop


async def test_an_interrupt_from_the_terminal_is_the_workers_to_handle(
    worker: SubprocessWorker, meeting: Meeting
) -> None:
    call = asyncio.create_task(worker.execute(task(meet_in_thread), meeting.address))
    guest = await meeting.guest()
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGINT)
    guest.release()
    assert await call == "met"
    assert await worker.execute(task(double_in_thread), 21) == 42


OWNER = """
import asyncio, os, sys
from fairlane.workers import SubprocessWorker, Task
from tests.support.worker_work import Address, meet_in_thread

async def main():
    worker = SubprocessWorker("w")
    await worker.start()
    if sys.argv[3] == "forked" and os.fork() == 0:  # holds the worker's end of the connection
        sys.stdin.read()
        os._exit(0)
    print(worker.pid, flush=True)
    await worker.execute(Task(meet_in_thread, task_id="t", created_s=0), Address(sys.argv[1], int(sys.argv[2])))

asyncio.run(main())
"""


@pytest.mark.parametrize("forked", ["alone", "forked"])
async def test_the_process_ends_with_its_owner_however_that_ends(meeting: Meeting, forked: str) -> None:
    owner = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        OWNER,
        *map(str, meeting.address),
        forked,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    assert owner.stdout is not None
    assert owner.stdin is not None
    pid = int(await owner.stdout.readline())
    process = psutil.Process(pid)
    guest = await meeting.guest()
    owner.kill()
    async with asyncio.timeout(20):
        await guest.gone()  # the work's connection is closed by nothing but the end of its process
    owner.stdin.close()
    await asyncio.to_thread(process.wait, 20)
    await owner.wait()


SAYS = {
    "surrogate": r"ValueError: file \udcff is missing",
    "unspeakable": "Unspeakable: Unspeakable",
    "exit": "SystemExit: 3",
    "cancelled": "CancelledError: CancelledError",
}


async def test_an_input_that_cannot_be_loaded_is_refused(worker: SubprocessWorker) -> None:
    pid = worker.pid
    for name in LOADING:
        async with asyncio.timeout(20):
            with fails(WorkerErrorCode.INVALID_CONFIGURATION) as error:
                await worker.execute(task(take), Unloadable(name))
        assert f"cannot be sent to worker w: {SAYS[name]}; " in str(error.value)
        assert (worker.status, worker.load) == (WorkerStatus.READY, 0)
    assert await worker.execute(task(take), None) == pid


@pytest.mark.parametrize(("value", "problem"), [(lambda: 1, "lambda"), (Unpicklable(), "Unspeakable")])
async def test_an_input_that_does_not_pickle_is_refused(worker: SubprocessWorker, value: object, problem: str) -> None:
    with fails(WorkerErrorCode.INVALID_CONFIGURATION, f"task t cannot be sent to worker w: .*{problem}.*must pickle"):
        await worker.execute(task(take), value)
    assert worker.load == 0
