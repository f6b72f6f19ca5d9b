"""Reused daemon threads for blocking functions.

A function that hangs delays neither other functions nor the end of the program. Imports little, since a worker's
process loads it at its start.
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
    """Return whether a call returns an awaitable at once, so that it needs no thread."""
    return inspect.iscoroutinefunction(work) or inspect.iscoroutinefunction(type(work).__call__)


def storable(error: BaseException) -> Exception:
    """Return an exception that a future accepts; work must not end the program by SystemExit or its like."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    substitute = RuntimeError(f"the work raised {shown(error, repr)}")
    substitute.__cause__ = error
    return substitute


@dataclass(frozen=True, slots=True)
class _Call(Generic[T]):
    function: Callable[[Any], T]
    value: object
    context: Context
    loop: asyncio.AbstractEventLoop
    done: "asyncio.Future[T]"

    def run(self) -> None:
        """Run the function; called in a thread."""
        resolve: Callable[[Any], None] = self.done.set_result
        outcome: T | Exception
        try:
            outcome = self.context.run(self.function, self.value)
        except BaseException as error:
            resolve, outcome = self.done.set_exception, storable(error)
        with contextlib.suppress(RuntimeError):  # the loop is closed, so nobody waits
            self.loop.call_soon_threadsafe(resolve, outcome)


class Threads:
    """Runs functions for one event loop. Keeps as many threads as functions ever ran at once."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._calls: SimpleQueue[_Call[Any] | None] = SimpleQueue()
        self._threads = 0
        self._running = 0

    def run(self, function: Callable[[Any], T], value: object) -> "asyncio.Future[T]":
        """Run a function in the caller's context. Never cancel the future, which ends with the function; shield it."""
        loop = asyncio.get_running_loop()
        call = _Call(function, value, copy_context(), loop, loop.create_future())
        call.done.add_done_callback(self._on_done)
        self._running += 1
        if self._running > self._threads:
            self._threads += 1
            threading.Thread(target=_serve, args=(self._calls,), name=self._name, daemon=True).start()
        self._calls.put(call)
        return call.done

    def close(self) -> None:
        """End each thread as soon as its function has returned."""
        for _ in range(self._threads):
            self._calls.put(None)
        self._threads = 0

    def _on_done(self, _: "asyncio.Future[Any]") -> None:
        self._running -= 1


def _serve(calls: "SimpleQueue[_Call[Any] | None]") -> None:
    while (call := calls.get()) is not None:
        call.run()
        del call  # an idle thread must not keep the call alive
