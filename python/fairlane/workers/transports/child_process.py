"""Starts the process of a subprocess worker, connects to it, and detects its end."""

import asyncio
import contextlib
import os
import socket
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Callable
from typing import Any, Final, cast

from fairlane.workers.transports.exchange import Exchange

END_S: Final = 2.0
"""Time for the process to exit after its connection is closed; then it is killed."""
FINAL_ANSWERS_S: Final = 0.1
"""Time to read answers that the process sent before it exited."""
_PROGRAM: Final = (
    "import sys; sys.path[:] = {path!r}; from fairlane.workers.transports.subprocess_child import main; main({numbers})"
)


class ChildProcess(asyncio.Protocol):
    """One process. ``lost`` is called once, with the reason, if it exits without a call of `end`."""

    def __init__(self, connection: socket.socket, process: Process, lost: Callable[[str], None]) -> None:
        """Use `begin`."""
        loop = asyncio.get_running_loop()
        self._connection = connection
        self._process = process
        self._lost = lost
        self.exchange = Exchange(self._write)
        """Calls to it."""
        self._closed: asyncio.Future[None] = loop.create_future()
        self._transport: asyncio.Transport | None = None
        self._ended = False
        self._watcher = asyncio.create_task(self._watch_exit())

    @classmethod
    async def begin(cls, lost: Callable[[str], None]) -> "ChildProcess":
        """Start a process and return when it accepts calls.

        Raises:
            OSError: it cannot be started, or exited before it was ready.
        """
        here, there = socket.socketpair()
        try:
            with there:
                process = await _spawn(there.fileno())
        except BaseException:
            here.close()
            raise
        child = cls(here, process, lost)
        try:
            await asyncio.get_running_loop().create_connection(lambda: child, sock=here)
            await child.exchange.ready
        except BaseException:
            await child.end()
            raise
        return child

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    async def end(self) -> None:
        """End the process, whatever runs in it, and fail all open calls. A second call does nothing."""
        self._finish("its process is being ended")
        with contextlib.suppress(OSError):  # closed already
            # Closing alone is not enough: a process forked from this one may hold this end, too.
            self._connection.shutdown(socket.SHUT_RDWR)
        if self._transport is None:
            self._connection.close()
        else:
            self._transport.abort()
        await self._exit()

    # -- what the event loop calls ---------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio.Protocol."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol."""
        self.exchange.feed(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio.Protocol."""
        self._closed.set_result(None)

    # -- its end ---------------------------------------------------------------------------------------------

    async def _watch_exit(self) -> None:
        exits: set[asyncio.Future[Any]] = {asyncio.create_task(self._process.wait()), self._closed}
        await asyncio.wait(exits, return_when=asyncio.FIRST_COMPLETED)
        await self._exit()
        await asyncio.wait({self._closed}, timeout=FINAL_ANSWERS_S)
        if not self._ended:
            reason = f"its process {self.pid} exited with status {self._process.returncode}"
            self._lost(reason)
            self._finish(reason)

    async def _exit(self) -> None:
        """Wait until the process exits after its connection is closed; kill it if that takes too long."""
        try:
            async with asyncio.timeout(END_S):
                await self._process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()

    def _finish(self, reason: str) -> None:
        self._ended = True
        self.exchange.finish(reason)

    def _write(self, data: bytes) -> None:
        assert self._transport is not None  # noqa: S101 - connected before the first call
        self._transport.write(data)


async def _spawn(descriptor: int) -> Process:
    program = _PROGRAM.format(path=[str(each) for each in sys.path], numbers=f"{descriptor}, {os.getpid()}")
    return await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdin=DEVNULL, pass_fds=(descriptor,))
