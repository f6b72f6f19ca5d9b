"""An event loop in its own thread, for programs that have none."""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future, wait
from typing import Any, TypeVar

import uvloop

from fairlane.errors import RuntimeStartError

T = TypeVar("T")


class LoopThread:
    """An event loop that runs until `close`. After that, `run` raises RuntimeStartError with the message ``ended``.

    It runs only in the process that made it: in a forked child `run` raises RuntimeStartError, `close` does nothing.
    """

    def __init__(self, ended: str) -> None:
        self._ended = ended
        self._closed = False
        self._owner_pid = os.getpid()
        self._lock = threading.RLock()
        """Held while work is handed to the loop, so that `close` cancels all work handed over before it."""
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fairlane-sync", daemon=True)
        self._thread.start()

    @property
    def is_foreign(self) -> bool:
        """Whether this is a forked child, in which the thread does not exist, and locks may be held for ever."""
        return os.getpid() != self._owner_pid

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run ``work`` on the loop and return its result. An interrupt (Ctrl-C) cancels ``work``, waits, and is raised.

        Raises:
            RuntimeStartError: the loop was closed, before or during ``work``, or this is a forked child.
        """
        if self.is_foreign:
            work.close()
            raise RuntimeStartError(
                "this process was forked from the one that started the scheduler, and cannot use it: "
                "start a scheduler of its own, or submit with fairlane.connect"
            )
        future: Future[T] = Future()
        tasks: list[asyncio.Task[T]] = []

        def begin() -> None:
            tasks.append(self._loop.create_task(work))
            tasks[0].add_done_callback(lambda task: _settle(future, task))

        def cancel() -> None:
            if tasks:
                tasks[0].cancel()
            else:  # the work was not handed over
                work.close()
                future.set_exception(CancelledError())

        try:
            if self.call(begin):
                return future.result()
        except CancelledError:
            if not self._closed:
                raise
            raise RuntimeStartError(self._ended) from None
        except KeyboardInterrupt:
            if self.call(cancel):
                wait([future])
            raise
        work.close()
        raise RuntimeStartError(self._ended)

    def call(self, function: Callable[[], object]) -> bool:
        """Schedule ``function`` on the loop's thread; False if the loop is closed or another process's."""
        if self.is_foreign:
            return False
        try:
            with self._lock:
                if not self._closed:
                    self._loop.call_soon_threadsafe(function)
                    return True
        except RuntimeError:  # a signal handler on this thread closed the loop after the check
            pass
        return False

    def close(self) -> None:
        """Cancel all running work and end the thread. Can be called again."""
        if self.is_foreign:
            return
        with self._lock:
            if self._closed:
                return
            cancelling = asyncio.run_coroutine_threadsafe(_cancel_all(), self._loop)
            self._closed = True
        wait([cancelling])
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _cancel_all() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _settle(future: Future[T], task: asyncio.Task[T]) -> None:
    if task.cancelled():
        future.set_exception(CancelledError())
    elif (error := task.exception()) is not None:
        future.set_exception(error)
    else:
        future.set_result(task.result())
