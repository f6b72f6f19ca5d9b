"""The worker's side of the message protocol: sends calls, and matches answers to them. Bytes are carried elsewhere."""

import asyncio
import itertools
from collections.abc import Callable
from typing import Any

from fairlane.workers.transports.frames import Answer, Call, Cancel, Ping, Unpacker, pack


class Exchange:
    """Calls to one process. ``write`` sends bytes to it, in order; bytes from it are passed to `feed`."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self.ready: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        """Done once the process accepts calls; raises ChildProcessError if the process ends before."""
        self._write = write
        self._unpacker = Unpacker()
        self._numbers = itertools.count()
        self._answers: dict[int, asyncio.Future[Any]] = {}

    def call(self, payload: bytes) -> "tuple[int, asyncio.Future[Answer]]":
        """Send pickled work and input. The future raises ChildProcessError if the process ends before it answers."""
        number, answer = self._expect()
        self._send(Call(number, payload))
        return number, answer

    def cancel(self, number: int) -> None:
        """Cancel a call; its answer still arrives."""
        if number in self._answers:
            self._send(Cancel(number))

    async def ping(self) -> None:
        """Return when the process's event loop has answered. Raises ChildProcessError if the process ends first."""
        number, answer = self._expect()
        self._send(Ping(number))
        await answer

    def feed(self, chunk: bytes) -> None:
        """Handle bytes from the process."""
        for message in self._unpacker.feed(chunk):
            waiting = self._answers.pop(message.number, None) if isinstance(message, Answer) else self.ready
            if waiting is not None and not waiting.done():
                waiting.set_result(message)

    def finish(self, reason: str) -> None:
        """Fail all open calls: the process has ended, or is about to."""
        waiting: list[asyncio.Future[Any]] = [self.ready, *self._answers.values()]
        for future in waiting:
            if not future.done():
                future.set_exception(ChildProcessError(reason))
                future.exception()  # mark it as retrieved: there may be no caller
        self._answers.clear()

    def _expect(self) -> "tuple[int, asyncio.Future[Answer]]":
        number = next(self._numbers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        return number, answer

    def _send(self, message: Call | Cancel | Ping) -> None:
        self._write(pack(message))
