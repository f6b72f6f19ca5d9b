"""Threads for blocking functions: as many as run at once, used again, and never waited for.

A function that hangs in one holds up neither the others nor the end of the program. Imports little, as a worker's
process starts with it.
"""

import asyncio
import contextlib
import inspect
import threading
from collections.abc import Callable
from contextvars import Context, copy_context
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from fairlane.workers.errors import shown

T = TypeVar("T")


def is_async(work: Callable[..., object]) -> bool:
    """Whether a call returns at once with something to await, and so needs no thread."""
    return inspect.iscoroutinefunction(work) or inspect.iscoroutinefunction(type(work).__call__)


def presentable(error: BaseException) -> Exception:
    """Return an error that a future can hold and a loop survives: an end of the program is none of the work's."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    stand_in = RuntimeError(f"it raised {shown(error, repr)}")
    stand_in.__cause__ = error
    return stand_in


@dataclass(frozen=True, slots=True)
class _Call(Generic[T]):
    function: Callable[[Any], T]
    value: object
    context: Context
    loop: asyncio.AbstractEventLoop
    ended: "asyncio.Future[T]"

    def run(self) -> None:
        """Run in a thread."""
        tell: Callable[[Any], None] = self.ended.set_result
        told: T | Exception
        try:
            told = self.context.run(self.function, self.value)
        except BaseException as error:
            tell, told = self.ended.set_exception, presentable(error)
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self.loop.call_soon_threadsafe(tell, told)


class Threads:
    """Runs functions for one event loop. There are as many threads as functions ever ran at once."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._calls: SimpleQueue[_Call[Any] | None] = SimpleQueue()
        self._threads = 0
        self._running = 0

    def run(self, function: Callable[[Any], T], value: object) -> "asyncio.Future[T]":
        """Run it in the caller's context. The future ends with the function: never cancel it, cancel a shield."""
        loop = asyncio.get_running_loop()
        call = _Call(function, value, copy_context(), loop, loop.create_future())
        call.ended.add_done_callback(self._ended)
        self._running += 1
        if self._running > self._threads:
            self._threads += 1
            threading.Thread(target=_serve, args=(self._calls,), name=self._name, daemon=True).start()
        self._calls.put(call)
        return call.ended

    def close(self) -> None:
        """Let each thread end as soon as its function has."""
        for _ in range(self._threads):
            self._calls.put(None)
        self._threads = 0

    def _ended(self, _: "asyncio.Future[Any]") -> None:
        self._running -= 1


def _serve(calls: "SimpleQueue[_Call[Any] | None]") -> None:
    while (call := calls.get()) is not None:
        call.run()
        del call  # an idle thread keeps nothing alive
