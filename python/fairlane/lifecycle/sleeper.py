"""Sleeping until there is work: a bell in the store, a wake-up from this process, or a time.

The owner polls for work before its first sleep and after every one, so a ring that came while nobody listened is
never lost: it stays in the store until the next sleep hears it.
"""

import asyncio
import logging

from fairlane.backoff import StoreRetry
from fairlane.clock import Rng
from fairlane.store.store import Store

_log = logging.getLogger(__name__)


class Sleeper:
    """One sleeper with its bell. One coroutine sleeps; any other on the same loop may wake it."""

    def __init__(self, store: Store, bell: str, *, heartbeat_s: float, rng: Rng) -> None:
        self._store = store
        self._bell = bell
        self._heartbeat_s = heartbeat_s
        self._retry = StoreRetry(bell, _log, rng, level=logging.DEBUG)  # the owner's calls fail, too, and it warns
        self._event = asyncio.Event()
        self._listening: asyncio.Task[None] | None = None
        self.rung = True
        """The bell rang, a heartbeat passed, or the store was away: the owner polls, and clears this."""

    def wake(self) -> None:
        """End the current sleep, or the next one if nobody sleeps."""
        self._event.set()

    async def sleep(self, timeout_s: float | None = None) -> None:
        """Return when woken, rung, or after ``timeout_s``; at the latest after a heartbeat."""
        event = self._event
        if not event.is_set():
            if self._listening is None:
                self._listening = asyncio.create_task(self._listen())
            timer = None
            if timeout_s is not None:
                timer = asyncio.get_running_loop().call_later(timeout_s, event.set)
            try:
                await event.wait()
            finally:
                if timer is not None:
                    timer.cancel()
        event.clear()

    async def close(self) -> None:
        """Stop listening."""
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
            self._listening = None

    async def _listen(self) -> None:
        await self._retry.attempt(lambda: self._store.wait(self._bell, self._heartbeat_s))
        self._listening = None
        self.rung = True
        self._event.set()
