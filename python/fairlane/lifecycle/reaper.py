"""The reaper: takes back the tasks of workers whose lease has run out."""

import asyncio
import logging
from typing import Final

from fairlane.clock import Rng, system_rng
from fairlane.errors import StoreError
from fairlane.lifecycle.backoff import Backoff
from fairlane.lifecycle.sleeper import pause
from fairlane.store.messages import Recovered
from fairlane.store.store import Store

_log = logging.getLogger(__name__)

_SHORTEST_S: Final = 0.01
_LONGEST_S: Final = 1.0
"""Without a worker, and at most: a lease that begins meanwhile is looked at in time."""


class Reaper:
    """Reaps at the time the next lease ends. Any number may run."""

    def __init__(self, store: Store, *, rng: Rng | None = None) -> None:
        self._store = store
        self._backoff = Backoff(rng or system_rng())

    async def run(self, stop: asyncio.Event) -> None:
        """Reap until ``stop`` is set. The store's failures are waited out."""
        while not stop.is_set():
            try:
                wait_s = await self._step()
                self._backoff.reset()
            except StoreError as error:
                _log.warning("reaper: %s", error)
                wait_s = self._backoff.next_s()
            if wait_s:
                await pause(stop, wait_s)

    async def _step(self) -> float:
        """Reap once; return how long nothing is due."""
        recovered: Recovered = await self._store.reap()
        if recovered.incarnations:
            _log.warning("workers lost: %s; %d tasks taken back", ", ".join(recovered.incarnations), recovered.tasks)
        if recovered.more:
            return 0.0
        due_s = _LONGEST_S if recovered.next_ms is None else recovered.next_ms / 1000
        return min(max(due_s, _SHORTEST_S), _LONGEST_S)
