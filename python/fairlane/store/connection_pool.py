"""The connections of one store to its server: a bounded number, handed out in the order in which callers ask.

redis-py's own pool loses a connection, or the wake-up of a waiter, when a caller is cancelled at the wrong moment. Here
a connection is given back without waiting for anything, so that a cancellation cannot interrupt it.
"""

import asyncio

from redis import exceptions
from redis.asyncio import ConnectionPool
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff


class Connections:
    """At most ``size`` connections to ``url``; a caller waits for one without a limit of its own."""

    def __init__(self, url: str, size: int, *, connect_timeout_s: float) -> None:
        self._made = ConnectionPool.from_url(
            url,
            socket_timeout=None,
            socket_connect_timeout=connect_timeout_s,
            retry=Retry(NoBackoff(), 0),
            protocol=2,
        )
        self._free: list[AbstractConnection] = []
        """The one used last is last: it is taken first."""
        self._used: set[AbstractConnection] = set()
        self._places = asyncio.Semaphore(size)

    async def take(self) -> AbstractConnection:
        """Return a connection that is ready for a command. Give it back with `give_back`.

        Raises:
            RedisError: the server cannot be reached, or refuses the connection; so does OSError.
        """
        await self._places.acquire()
        connection = self._free.pop() if self._free else self._made.make_connection()  # type: ignore[no-untyped-call]
        self._used.add(connection)
        try:
            await _make_ready(connection)
        except BaseException:
            self.give_back(connection)
            raise
        return connection

    def give_back(self, connection: AbstractConnection) -> None:
        """Let the next caller have it; it may be broken."""
        self._used.discard(connection)
        self._free.append(connection)
        self._places.release()

    async def close(self) -> None:
        """Close every connection."""
        for connection in (*self._free, *self._used):
            await connection.disconnect()


async def _make_ready(connection: AbstractConnection) -> None:
    """Connect it, and again if the server closed it or it still holds an answer that nobody read."""
    await connection.connect()  # type: ignore[no-untyped-call]
    try:
        used = await connection.can_read()
    except (exceptions.ConnectionError, exceptions.TimeoutError, OSError):
        used = True
    if used:
        await connection.disconnect(nowait=True)
        await connection.connect()  # type: ignore[no-untyped-call]
