"""Starting and stopping processes on a thread that outlives the caller."""

import asyncio
import threading
import time

import pytest

from fairlane.runtime import process_thread


async def test_every_call_runs_on_the_same_thread():
    here = await process_thread.call(threading.current_thread)
    there = await asyncio.to_thread(lambda: asyncio.run(process_thread.call(threading.current_thread)))
    assert here is there
    assert here is not threading.current_thread()
    assert here.daemon


async def test_an_error_reaches_the_caller():
    with pytest.raises(ZeroDivisionError):
        await process_thread.call(lambda: 1 // 0)


async def test_a_cancelled_caller_waits_for_its_call():
    done: list[str] = []

    def work() -> None:
        time.sleep(0.3)
        done.append("work")

    task = asyncio.create_task(process_thread.call(work))
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert done == ["work"]


async def test_a_call_that_hangs_does_not_delay_later_calls(monkeypatch):
    monkeypatch.setattr(process_thread, "PATIENCE_S", 0.1)
    release = threading.Event()
    before = await process_thread.call(threading.current_thread)
    with pytest.raises(TimeoutError):
        await process_thread.call(release.wait, timeout_s=0.1)
    second = await process_thread.call(threading.current_thread)
    assert second is not before

    task = asyncio.create_task(process_thread.call(release.wait))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await process_thread.call(threading.current_thread) is not second
    release.set()
