"""The worker's side of its process: starts it, hands it calls, hears its answers, and sees it end."""

import asyncio
import contextlib
import itertools
import os
import socket
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Callable
from typing import Final, cast

from fairlane.pool.frames import Answer, Call, Cancel, Ping, Ready, Unpacker, pack

END_S: Final = 2.0
"""How long a process may take to end once its connection is closed; then it is killed."""
LAST_WORDS_S: Final = 0.1
"""How long answers are still read that a process gave before it ended."""
_PROGRAM: Final = "import sys; sys.path[:] = {path!r}; from fairlane.pool.subprocess_child import main; main({numbers})"


class ChildProcess(asyncio.Protocol):
    """One process. ``lost`` is called once, with the reason, if it ends without having been told to."""

    def __init__(self, connection: socket.socket, process: Process, lost: Callable[[str], None]) -> None:
        """Use `begin`."""
        loop = asyncio.get_running_loop()
        self._connection = connection
        self._process = process
        self._lost = lost
        self._unpacker = Unpacker()
        self._numbers = itertools.count()
        self._answers: dict[int, asyncio.Future[Answer]] = {}
        self._ready: asyncio.Future[None] = loop.create_future()
        self._closed: asyncio.Future[None] = loop.create_future()
        self._transport: asyncio.Transport | None = None
        self._over = False
        self._watch = asyncio.create_task(self._see_it_end())

    @classmethod
    async def begin(cls, lost: Callable[[str], None]) -> "ChildProcess":
        """Start a process and return when it takes calls.

        Raises:
            OSError: it cannot be started, or ended before it was ready.
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
            await child._ready
        except BaseException:
            await child.end()
            raise
        return child

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    def call(self, payload: bytes) -> "tuple[int, asyncio.Future[Answer]]":
        """Have the pickled work and input executed. The future raises ChildProcessError if the process ends first."""
        number, answer = self._expect()
        self._send(Call(number, payload))
        return number, answer

    def cancel(self, number: int) -> None:
        """Cancel a call; its answer still comes."""
        if number in self._answers:
            self._send(Cancel(number))

    async def ping(self) -> None:
        """Return when its event loop has answered. Raises ChildProcessError if the process ends first."""
        number, answer = self._expect()
        self._send(Ping(number))
        await answer

    async def end(self) -> None:
        """End the process, whatever runs in it, and all answers. A second call does nothing."""
        self._finish("its process is being ended")
        with contextlib.suppress(OSError):  # closed already
            # Not just closed: a process that was forked from this one may hold this end, too.
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
        for message in self._unpacker.feed(data):
            match message:
                case Answer(number):
                    answer = self._answers.pop(number, None)
                    if answer is not None and not answer.done():
                        answer.set_result(message)
                case Ready() if not self._ready.done():
                    self._ready.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio.Protocol."""
        self._closed.set_result(None)

    # -- its end ---------------------------------------------------------------------------------------------

    async def _see_it_end(self) -> None:
        exited = asyncio.create_task(self._process.wait())
        await asyncio.wait({exited, self._closed}, return_when=asyncio.FIRST_COMPLETED)
        await self._exit()
        await asyncio.wait({self._closed}, timeout=LAST_WORDS_S)
        if not self._over:
            reason = f"its process {self.pid} ended with status {self._process.returncode}"
            self._lost(reason)
            self._finish(reason)

    async def _exit(self) -> None:
        """Wait for the end of a process whose connection is closed; kill it if that takes too long."""
        try:
            async with asyncio.timeout(END_S):
                await self._process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()

    def _finish(self, reason: str) -> None:
        self._over = True
        for future in (self._ready, *self._answers.values()):
            if not future.done():
                future.set_exception(ChildProcessError(reason))
                future.exception()  # seen: there need not be anybody who waits
        self._answers.clear()

    # -- frames ----------------------------------------------------------------------------------------------

    def _expect(self) -> "tuple[int, asyncio.Future[Answer]]":
        number = next(self._numbers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        return number, answer

    def _send(self, message: Call | Cancel | Ping) -> None:
        assert self._transport is not None  # noqa: S101 - it is ready
        self._transport.write(pack(message))


async def _spawn(descriptor: int) -> Process:
    program = _PROGRAM.format(path=[str(each) for each in sys.path], numbers=f"{descriptor}, {os.getpid()}")
    return await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdin=DEVNULL, pass_fds=(descriptor,))
