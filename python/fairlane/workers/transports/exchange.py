"""The worker's side of what is told in frames: hands over calls, hears answers. What carries them is elsewhere."""

import asyncio
import itertools
from collections.abc import Callable
from typing import Any

from fairlane.workers.transports.frames import Answer, Call, Cancel, Ping, Unpacker, pack


class Exchange:
    """Calls to one process. ``write`` sends bytes there, in order; what comes from there is fed."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self.ready: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        """Done as soon as the process takes calls; raises ChildProcessError if it ends before."""
        self._write = write
        self._unpacker = Unpacker()
        self._numbers = itertools.count()
        self._answers: dict[int, asyncio.Future[Any]] = {}

    def call(self, payload: bytes) -> "tuple[int, asyncio.Future[Answer]]":
        """Have the pickled work and input executed. The future raises ChildProcessError if the process ends first."""
        number, answer = self._expect()
        self._tell(Call(number, payload))
        return number, answer

    def cancel(self, number: int) -> None:
        """Cancel a call; its answer still comes."""
        if number in self._answers:
            self._tell(Cancel(number))

    async def ping(self) -> None:
        """Return when the process's event loop has answered. Raises ChildProcessError if the process ends first."""
        number, answer = self._expect()
        self._tell(Ping(number))
        await answer

    def feed(self, piece: bytes) -> None:
        """Take in what the process has sent."""
        for message in self._unpacker.feed(piece):
            waiting = self._answers.pop(message.number, None) if isinstance(message, Answer) else self.ready
            if waiting is not None and not waiting.done():
                waiting.set_result(message)

    def finish(self, reason: str) -> None:
        """End everything that waits for the process: it has ended, or is about to."""
        waiting: list[asyncio.Future[Any]] = [self.ready, *self._answers.values()]
        for future in waiting:
            if not future.done():
                future.set_exception(ChildProcessError(reason))
                future.exception()  # seen: there need not be anybody who waits
        self._answers.clear()

    def _expect(self) -> "tuple[int, asyncio.Future[Answer]]":
        number = next(self._numbers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        return number, answer

    def _tell(self, message: Call | Cancel | Ping) -> None:
        self._write(pack(message))
