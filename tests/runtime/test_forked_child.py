"""A child forked from the process of a `SyncScheduler`: typed errors at once, and no waiting."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable

from fairlane import RuntimeStartError, SyncScheduler
from fairlane.runtime.loop_thread import LoopThread


def _exit_code_in_child(work: Callable[[], bool]) -> int:
    """Run ``work`` in a forked child: 0 if it returns true, a signal's negative number if it does not return."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(20)
        code = 1
        try:
            code = 0 if work() else 2
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def test_a_loop_of_the_parent_refuses_work_in_the_child():
    loop = LoopThread("closed")

    def work() -> bool:
        try:
            loop.run(asyncio.sleep(0))
        except RuntimeStartError as error:
            loop.close()
            return "forked" in error.message
        return False

    with loop._lock:  # the fork may come while another thread has it
        code = []
        thread = threading.Thread(target=lambda: code.append(_exit_code_in_child(work)))
        thread.start()
        thread.join()
    assert code == [0]
    assert loop.run(asyncio.sleep(0, "the parent's still works")) == "the parent's still works"
    loop.close()


def test_a_scheduler_of_the_parent_raises_or_returns_at_once_in_the_child():
    scheduler = SyncScheduler(provider="fairlane.providers.simulated:SimulatedProvider")
    scheduler._loop = LoopThread("not started")

    def work() -> bool:
        refused = 0
        for use in (scheduler.start, lambda: scheduler._started.run(asyncio.sleep(0))):
            try:
                use()
            except RuntimeStartError:
                refused += 1
        scheduler.__exit__(None, None, None)
        return refused == 2

    code = []
    with scheduler._life:
        thread = threading.Thread(target=lambda: code.append(_exit_code_in_child(work)))
        thread.start()
        thread.join()
    assert code == [0]
    scheduler._end()
