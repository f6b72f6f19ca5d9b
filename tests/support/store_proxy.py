"""A proxy between a store and its server that loses chosen replies."""

import asyncio
from pathlib import Path
from types import TracebackType
from typing import Self

from fairlane.store import scripts
from fairlane.store.connection import Endpoint


class LossyProxy:
    """Forwards a unix socket; cuts the connection instead of forwarding a chosen reply."""

    def __init__(self, path: Path, server: Path) -> None:
        self._path = path
        self._server = server
        self._losing: bytes | None = None
        self._listener: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self.lost = 0
        """Replies lost so far."""

    def endpoint(self) -> Endpoint:
        """The address for clients whose replies may be lost."""
        return Endpoint(f"unix://{self._path}")

    def lose_reply_to(self, command: str) -> None:
        """Lose the next reply to this script, after the server has run it."""
        self._losing = scripts.digest(command).encode()

    async def __aenter__(self) -> Self:
        self._listener = await asyncio.start_unix_server(self._serve, self._path)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._listener is not None
        self._listener.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)
        from_server, to_server = await asyncio.open_unix_connection(self._server)
        losing = asyncio.Event()
        ways = [
            asyncio.ensure_future(self._requests(reader, to_server, losing)),
            asyncio.ensure_future(self._replies(from_server, writer, losing)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            writer.close()
            to_server.close()

    async def _requests(
        self, client: asyncio.StreamReader, server: asyncio.StreamWriter, losing: asyncio.Event
    ) -> None:
        while data := await client.read(2**20):
            if self._losing is not None and self._losing in data:
                self._losing = None
                losing.set()
            server.write(data)

    async def _replies(self, server: asyncio.StreamReader, client: asyncio.StreamWriter, losing: asyncio.Event) -> None:
        while data := await server.read(2**20):
            if losing.is_set():
                self.lost += 1
                return
            client.write(data)
