"""An event loop in a thread of its own, for callers that have none."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future, wait
from typing import Any, TypeVar

import uvloop

from fairlane.errors import RuntimeStartError

T = TypeVar("T")


class LoopThread:
    """Runs until it is closed. ``ended`` is what a caller is told from then on."""

    def __init__(self, ended: str) -> None:
        self._ended = ended
        self._closed = False
        self._lock = threading.RLock()
        """Held while work is handed over: what is handed over before the end is cancelled by it."""
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fairlane-sync", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of ``work``. An interrupt (Ctrl-C) cancels it, and is passed on when it has ended.

        Raises:
            RuntimeStartError: the loop is closed, or was meanwhile.
        """
        future: Future[T] = Future()
        tasks: list[asyncio.Task[T]] = []

        def begin() -> None:
            tasks.append(self._loop.create_task(work))
            tasks[0].add_done_callback(lambda task: _settle(future, task))

        def cancel() -> None:
            if tasks:
                tasks[0].cancel()
            else:  # it was not handed over
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
        """Have the loop call ``function`` soon; False if it is closed."""
        try:
            with self._lock:
                if not self._closed:
                    self._loop.call_soon_threadsafe(function)
                    return True
        except RuntimeError:  # closed since the look at it, by a signal's handler on this thread
            pass
        return False

    def close(self) -> None:
        """Cancel what still runs, and end the thread. May be called again."""
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
