"""Waiting for a bell: a blocking pop that stays open when the sleeper's own timer ends a wait."""

import asyncio
from typing import Any

from fairlane.errors import StoreError
from fairlane.store.connection import Connector


class Bell:
    """One sleeper's bell. A wait that times out leaves the pop open, so that timers cause no reconnects.

    A ring can be lost: after every wait the sleeper must look at the state before it waits again.
    """

    def __init__(self, connector: Connector, key: str) -> None:
        self._connector = connector
        self._key = key
        self._pop: asyncio.Task[Any] | None = None

    async def wait(self, timeout_s: float) -> bool:
        """Return True as soon as the bell rings, False after ``timeout_s``.

        Raises:
            StoreError: the server did not answer or refused; try again after a pause.

        """
        if self._pop is None:
            self._pop = asyncio.ensure_future(self._connector.block(("BLPOP", self._key, 0)))
        pop = self._pop
        await asyncio.wait({pop}, timeout=timeout_s)
        if not pop.done():
            return False
        self._pop = None
        pop.result()
        return True

    async def close(self) -> None:
        """Stop waiting."""
        pop, self._pop = self._pop, None
        if pop is not None:
            pop.cancel()
            try:
                await pop
            except (asyncio.CancelledError, StoreError):
                return
