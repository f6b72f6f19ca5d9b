"""Waiting for a bell: a blocking pop that stays open when the sleeper's own timer ends a wait."""

import asyncio
from typing import Any, Final

from fairlane.errors import StoreError
from fairlane.store.connection import Connector

_OVERDUE: Final = 1.5
"""A pop without an answer for this many times its own limit has a connection that is silent."""


class Bell:
    """One sleeper's bell. A wait that times out leaves the pop open, so that timers cause no reconnects.

    The server answers a pop within the timeout of the wait that began it. If it does not, the connection is silent,
    such as after a failover of an address, and the pop is begun again on another one: at the end of the second wait.

    A ring can be lost: after every wait the sleeper must look at the state before it waits again.
    """

    def __init__(self, connector: Connector, key: str) -> None:
        self._connector = connector
        self._key = key
        self._pop: asyncio.Task[Any] | None = None
        self._overdue_s = 0.0

    async def wait(self, timeout_s: float) -> bool:
        """Return True as soon as the bell rings, False after ``timeout_s``.

        Raises:
            StoreError: the server did not answer or refused; try again after a pause.

        """
        clock = asyncio.get_running_loop().time
        until_s = clock() + timeout_s
        while (left_s := until_s - clock()) > 0:
            if self._pop is None:
                command = ("BLPOP", self._key, f"{timeout_s:.3f}")
                self._pop = asyncio.ensure_future(self._connector.block(command))
                self._overdue_s = clock() + _OVERDUE * timeout_s
            pop = self._pop
            await asyncio.wait({pop}, timeout=left_s)
            if pop.done():
                self._pop = None
                if pop.result() is not None:
                    return True
        if self._pop is not None and clock() >= self._overdue_s:
            await self.close()
        return False

    async def close(self) -> None:
        """Stop waiting."""
        pop, self._pop = self._pop, None
        if pop is not None:
            pop.cancel()
            try:
                await pop
            except (asyncio.CancelledError, StoreError):
                return
