"""The end of a process is reported at once, on every event loop that Fairlane supports."""

import asyncio
import subprocess

import pytest
import uvloop

from fairlane.embedded.processes import ProcessId, identify
from fairlane.runtime.process_watch import ProcessWatch


@pytest.fixture
def process():
    process = subprocess.Popen(["sleep", "60"])
    yield process
    process.kill()
    process.wait()


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_the_end_is_reported_once(process, new_loop):
    async def see() -> int:
        ends = 0
        ended = asyncio.Event()

        def count() -> None:
            nonlocal ends
            ends += 1
            ended.set()

        watch = ProcessWatch(identify(process.pid), count)
        process.kill()
        async with asyncio.timeout(10):
            await ended.wait()
        await asyncio.sleep(0)
        watch.close()
        return ends

    with asyncio.Runner(loop_factory=new_loop) as runner:
        assert runner.run(see()) == 1


async def test_a_closed_watch_reports_nothing(process):
    ends = []
    closed, open_ = asyncio.Event(), asyncio.Event()
    watch = ProcessWatch(identify(process.pid), lambda: ends.append(closed))
    other = ProcessWatch(identify(process.pid), open_.set)
    watch.close()
    process.kill()
    async with asyncio.timeout(10):
        await open_.wait()
    other.close()
    assert ends == []


@pytest.mark.parametrize("has_pid", [True, False])
async def test_a_process_that_has_already_ended_is_reported_even_if_its_pid_was_reused(process, has_pid):
    gone = ProcessId(process.pid if has_pid else 2**22 + 1, "another start")
    ended = asyncio.Event()
    watch = ProcessWatch(gone, ended.set)
    assert not ended.is_set()  # not before the caller knows the watch
    async with asyncio.timeout(10):
        await ended.wait()
    watch.close()
