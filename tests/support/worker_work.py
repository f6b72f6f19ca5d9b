"""Work for workers of every transport, and a place where work connects to the test that waits for it."""

import asyncio
import contextlib
import os
import socket
import threading
from collections.abc import Callable
from typing import Any, NamedTuple, Self

from fairlane.workers.errors import WorkerError, WorkerErrorCode
from fairlane.workers.executor.task import Task


def task(work: Callable[[Any], Any], task_id: str = "t") -> Task[Any, Any]:
    return Task(work, task_id=task_id, created_s=0)


class Address(NamedTuple):
    host: str
    port: int


class Guest:
    """A piece of work that has connected."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def name(self) -> str:
        """Return the name that the work sends."""
        return (await self._reader.readline()).decode().strip()

    async def gone(self) -> None:
        """Return when the work has ended by itself."""
        with contextlib.suppress(ConnectionError):
            await self._reader.read()

    def release(self) -> None:
        """Let the work continue."""
        self._writer.close()


class Meeting:
    """Work connects to `address` and waits until it is released."""

    def __init__(self) -> None:
        self.address = Address("", 0)
        self._guests: asyncio.Queue[Guest] = asyncio.Queue()
        self._all: list[Guest] = []

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._welcome, "127.0.0.1", 0)
        self.address = Address(*self._server.sockets[0].getsockname())
        return self

    async def __aexit__(self, *_: object) -> None:
        for guest in self._all:
            guest.release()
        self._server.close()

    async def guest(self) -> Guest:
        """Return the next piece of work that connects."""
        async with asyncio.timeout(20):
            return await self._guests.get()

    def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._all.append(guest := Guest(reader, writer))
        self._guests.put_nowait(guest)


async def meet(address: Address) -> str:
    """Connect to the meeting and wait for the release."""
    reader, writer = await asyncio.open_connection(*address)
    try:
        await reader.read()
    finally:
        writer.close()
    return "met"


def meet_in_thread(address: Address) -> str:
    """Connect to the meeting and wait for the release; blocks the thread."""
    with socket.create_connection(address) as connection:
        connection.recv(1)
    return "met"


def meet_as_fork(address: Address) -> int:
    """Leave a process that waits for the release."""
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(BaseException):
            meet_in_thread(address)
        os._exit(0)
    return pid


async def block_the_loop(address: Address) -> None:
    """Block the event loop, as no async function should."""
    meet_in_thread(address)


async def double(value: int) -> int:
    return value * 2


def double_in_thread(value: int) -> int:
    return value * 2


def double_later(value: int) -> Any:
    """Return a coroutine without being async."""
    return double(value)


class Doubler:
    """A callable object that is async."""

    async def __call__(self, value: int) -> int:
        return value * 2


class Tripler(Task[int, int]):
    """Executes its work with a changed input, in a thread."""

    def execute(self, value: int) -> Any:
        """See Task."""
        return super().execute(value + value // 2)


class AsyncTripler(Task[int, int]):
    """Replaces its work, on the loop."""

    async def execute(self, value: int) -> int:
        """See Task."""
        return 3 * value


def thread_name(_: object) -> str:
    return threading.current_thread().name


def process_id(_: object) -> int:
    return os.getpid()


def raise_it(error: BaseException) -> None:
    raise error


async def raise_it_async(error: BaseException) -> None:
    raise error


def end_the_process(status: int) -> None:
    os._exit(status)


async def close_everything(_: object) -> None:
    """Close all connections of the process, and hang."""
    os.closerange(3, 256)
    threading.Event().wait()


def lambda_of(value: object) -> Callable[[], object]:
    """Return a function, which does not pickle."""
    return lambda: value


def write_to_stdout(text: str) -> None:
    os.write(1, text.encode())


def lose_a_worker(_: object) -> None:
    """Fail like another worker group, used by the work itself."""
    raise WorkerError(WorkerErrorCode.WORKER_LOST, "inner")


class Unspeakable(Exception):
    """An error that cannot be shown."""

    def __str__(self) -> str:
        raise ValueError("no text")

    __repr__ = __str__
