"""The process of a subprocess worker: executes calls until the worker's end of the socket is closed.

Async functions run on the event loop, blocking ones in threads. What they print is nobody's protocol. Imports little
beside the standard library, so that the process starts fast; what the work needs is imported with the first call.
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
from fairlane.workers.transports.frames import Answer, AnswerKind, Call, Cancel, Order, Ready, Unpacker, pack
from fairlane.workers.transports.threads import Threads, is_async, presentable

END_S: Final = 1.0
"""How long what still runs may clean up when the worker is gone."""
_LOOK_MS: Final = 1_000
_PIECE: Final = 2**16


def main(descriptor: int, parent: int) -> None:
    """Serve the socket of this number, for the process of that one."""
    # Ctrl-C reaches the whole terminal; what it means is the worker's to decide. Not ignored, or programs that the
    # work starts would ignore it, too.
    signal.signal(signal.SIGINT, lambda _signal, _frame: None)
    with socket.socket(fileno=descriptor) as connection:
        connection.set_inheritable(False)
        asyncio.run(Child(connection, parent).serve())


class Child:
    """The calls under way."""

    def __init__(self, connection: socket.socket, parent: int) -> None:
        self._connection = connection
        self._parent = parent
        self._threads = Threads("fairlane-work")
        self._over = asyncio.Event()
        self._running: dict[int, asyncio.Task[Answer]] = {}

    async def serve(self) -> None:
        """Execute calls until the other end is closed or its process has ended; what still runs is cancelled."""
        loop = asyncio.get_running_loop()

        def read() -> None:
            # Not on the loop, which the work may block: that must not keep the process when its worker is gone.
            with contextlib.suppress(RuntimeError):  # the loop is closed already
                for order in _arriving(self._connection, self._parent):
                    loop.call_soon_threadsafe(self._take, order)
                loop.call_soon_threadsafe(self._over.set)
            _exit_after(END_S)

        threading.Thread(target=read, name="fairlane-reader", daemon=True).start()
        self._send(Ready())
        await self._over.wait()

    def _take(self, order: Order) -> None:
        match order:
            case Call(number, payload):
                self._running[number] = call = asyncio.create_task(self._outcome(number, payload))
                call.add_done_callback(partial(self._ended, number))
            case Cancel(number):
                with contextlib.suppress(KeyError):  # it has ended meanwhile
                    self._running[number].cancel()
            case _:
                self._send(Answer(order.number, AnswerKind.VALUE, pickle.dumps(None)))

    def _ended(self, number: int, call: "asyncio.Task[Answer]") -> None:
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
            return Answer(number, AnswerKind.RAISED, pickled(presentable(error)), shown(error, _trace))

    async def _execute(self, work: Callable[[Any], Any], value: object) -> object:
        output = work(value) if is_async(work) else await self._in_thread(work, value)
        return await output if inspect.isawaitable(output) else output

    async def _in_thread(self, work: Callable[[Any], Any], value: object) -> object:
        ended = self._threads.run(work, value)
        try:
            return await asyncio.shield(ended)
        except asyncio.CancelledError:
            if not self._over.is_set():
                await asyncio.wait({ended})  # it cannot be ended: its slot is in use until it returns
            raise

    def _send(self, message: Ready | Answer) -> None:
        with contextlib.suppress(OSError):  # nobody is there: the reader sees it, too
            self._connection.sendall(pack(message))


def pickled(error: Exception) -> bytes:
    """Pickle an exception; one that does not survive it is replaced by a stand-in that says the same."""
    try:
        data = pickle.dumps(error)
        if isinstance(pickle.loads(data), Exception):  # noqa: S301 - just made
            return data
    except BaseException:  # noqa: S110 - whatever its own code raises, the caller is to be answered
        pass
    return pickle.dumps(RuntimeError(f"{type(error).__module__}.{type(error).__qualname__}: {shown(error)}"))


def _trace(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


def _arriving(connection: socket.socket, parent: int) -> Iterator[Order]:
    """Yield what arrives until the other end is closed, or ``parent`` has ended.

    The latter is looked at, too, since a process forked from it may hold the other end open.
    """
    unpacker = Unpacker()
    readable = select.poll()
    readable.register(connection, select.POLLIN)
    with contextlib.suppress(OSError):
        while os.getppid() == parent:
            if readable.poll(_LOOK_MS):
                piece = connection.recv(_PIECE)
                if not piece:
                    return
                yield from cast(Iterator[Order], unpacker.feed(piece))


def _exit_after(seconds: float) -> None:
    """End the process, whatever still runs in it."""
    threading.Event().wait(seconds)
    os._exit(1)
