"""The one thread that starts and stops processes.

The kernel ends Ray's processes when the *thread* that started them ends. The caller's thread may end early (an
executor's, a notebook's), so a thread that lives as long as this process starts them. It starts one at a time, so that
no process inherits the environment entries that are meant for another.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, Final, TypeVar

T = TypeVar("T")

PATIENCE_S: Final = 2.5
"""How long a cancelled caller waits for the function that it started. Usually it ends, and can be undone properly."""


class _Thread:
    def __init__(self) -> None:
        self._work: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        # A daemon: a start that hangs in Ray's C++ code must not delay the end of the process.
        threading.Thread(target=self._run, name="fairlane-processes", daemon=True).start()

    def submit(self, function: Callable[[], T]) -> Future[T]:
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()
        self._work.put((future, function))
        return future

    def _run(self) -> None:
        while True:
            future, function = self._work.get()
            try:
                future.set_result(function())
            except BaseException as error:
                future.set_exception(error)
            del future, function


_lock = threading.Lock()
_thread: _Thread | None = None


async def call(function: Callable[[], T], *, timeout_s: float | None = None) -> T:
    """Run ``function`` on the thread and return its result.

    A cancelled call waits up to PATIENCE_S for the function to end. A function that hangs is abandoned with its
    thread, and later calls get a new thread.

    Raises:
        TimeoutError: the function did not end within ``timeout_s``.
    """
    global _thread  # noqa: PLW0603 - one per process
    with _lock:
        if _thread is None:
            _thread = _Thread()
        thread = _thread
        future = asyncio.wrap_future(thread.submit(function))
    future.add_done_callback(_retrieve)
    try:
        await asyncio.wait({future}, timeout=timeout_s)
        if not future.done():
            raise TimeoutError
        return future.result()
    except asyncio.CancelledError:
        await asyncio.wait({future}, timeout=PATIENCE_S)
        raise
    finally:
        if not future.done():
            with _lock:
                if _thread is thread:
                    _thread = None


def _retrieve(future: "asyncio.Future[Any]") -> None:
    if not future.cancelled():
        future.exception()
