"""The main program of a subprocess worker's process: executes calls until the worker closes its end of the socket.

Async functions run on the event loop, blocking ones in threads; they may use stdout and stderr freely. The module
imports little beside the standard library, so that the process starts fast.
"""

import asyncio
import contextlib
import inspect
import os
import pickle
import select
import signal
import socket
import threading
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, cast

from fairlane.workers.errors import shown
from fairlane.workers.transports.frames import Answer, AnswerKind, Call, Cancel, Ready, Request, Unpacker, pack
from fairlane.workers.transports.threads import Threads, is_async, storable

CLEANUP_S: Final = 1.0
"""Time for running calls to clean up when the worker is gone."""
_POLL_MS: Final = 1_000
_CHUNK_BYTES: Final = 2**16


def main(descriptor: int, parent: int) -> None:
    """Serve the socket with this file descriptor, on behalf of the process with id ``parent``."""
    # Ctrl-C reaches every process of the terminal, but only the worker decides what it means. SIG_IGN would be
    # inherited by programs that the work starts; a handler is not.
    signal.signal(signal.SIGINT, lambda _signal, _frame: None)
    with socket.socket(fileno=descriptor) as connection:
        connection.set_inheritable(False)
        asyncio.run(Child(connection, parent).serve())


class Child:
    """Executes the calls of one worker."""

    def __init__(self, connection: socket.socket, parent: int) -> None:
        self._connection = connection
        self._parent = parent
        self._threads = Threads("fairlane-work")
        self._closing = asyncio.Event()
        self._running: dict[int, asyncio.Task[Answer]] = {}

    async def serve(self) -> None:
        """Execute calls until the other end is closed or the parent exits, then cancel what still runs."""
        loop = asyncio.get_running_loop()

        def read() -> None:
            # In a thread, since work may block the loop: the process must end with its worker all the same.
            with contextlib.suppress(RuntimeError):  # the loop is already closed
                for request in _requests(self._connection, self._parent):
                    loop.call_soon_threadsafe(self._handle, request)
                loop.call_soon_threadsafe(self._closing.set)
            _exit_after(CLEANUP_S)

        threading.Thread(target=read, name="fairlane-reader", daemon=True).start()
        self._send(Ready())
        await self._closing.wait()

    def _handle(self, request: Request) -> None:
        match request:
            case Call(number, payload):
                self._running[number] = call = asyncio.create_task(self._outcome(number, payload))
                call.add_done_callback(partial(self._on_ended, number))
            case Cancel(number):
                with contextlib.suppress(KeyError):  # it has already ended
                    self._running[number].cancel()
            case _:
                self._send(Answer(request.number, AnswerKind.VALUE, pickle.dumps(None)))

    def _on_ended(self, number: int, call: "asyncio.Task[Answer]") -> None:
        del self._running[number]
        self._send(Answer(number, AnswerKind.CANCELLED) if call.cancelled() else call.result())

    async def _outcome(self, number: int, payload: bytes) -> Answer:
        try:
            work, value = pickle.loads(payload)  # noqa: S301 - from our own worker
        except BaseException as error:
            problem = f"{type(error).__name__}: {shown(error)}"
            return Answer(number, AnswerKind.UNUSABLE, problem.encode(errors="backslashreplace"))
        try:
            return Answer(number, AnswerKind.VALUE, pickle.dumps(await self._execute(work, value)))
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            return Answer(number, AnswerKind.RAISED, pickled(storable(error)), shown(error, _trace))

    async def _execute(self, work: Callable[[Any], Any], value: object) -> object:
        output = work(value) if is_async(work) else await self._in_thread(work, value)
        return await output if inspect.isawaitable(output) else output

    async def _in_thread(self, work: Callable[[Any], Any], value: object) -> object:
        done = self._threads.run(work, value)
        try:
            return await asyncio.shield(done)
        except asyncio.CancelledError:
            if not self._closing.is_set():
                await asyncio.wait({done})  # a thread cannot be ended: the slot stays in use until it returns
            raise

    def _send(self, message: Ready | Answer) -> None:
        with contextlib.suppress(OSError):  # the worker is gone, which the reader thread detects, too
            self._connection.sendall(pack(message))


def pickled(error: Exception) -> bytes:
    """Pickle an exception; replace one that cannot be pickled by a RuntimeError with the same text."""
    try:
        data = pickle.dumps(error)
        if isinstance(pickle.loads(data), Exception):  # noqa: S301 - just made
            return data
    except BaseException:  # noqa: S110 - whatever the exception's own code raises, the caller needs an answer
        pass
    return pickle.dumps(RuntimeError(f"{type(error).__module__}.{type(error).__qualname__}: {shown(error)}"))


def _trace(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


def _requests(connection: socket.socket, parent: int) -> Iterator[Request]:
    """Yield requests until the other end is closed or ``parent`` has exited.

    Both are checked, since a process forked from the parent may hold the other end open.
    """
    unpacker = Unpacker()
    readable = select.poll()
    readable.register(connection, select.POLLIN)
    with contextlib.suppress(OSError):
        while os.getppid() == parent:
            if readable.poll(_POLL_MS):
                chunk = connection.recv(_CHUNK_BYTES)
                if not chunk:
                    return
                yield from cast(Iterator[Request], unpacker.feed(chunk))


def _exit_after(seconds: float) -> None:
    """End the process, whatever still runs in it."""
    threading.Event().wait(seconds)
    os._exit(1)
