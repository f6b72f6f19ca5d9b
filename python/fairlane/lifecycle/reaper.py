"""The reaper: takes back the tasks of workers whose lease has run out."""

import logging
from typing import Final

from fairlane.backoff import StoreRetry
from fairlane.clock import Rng, system_rng
from fairlane.run import Role, Signals
from fairlane.store.store import Store

_log = logging.getLogger(__name__)

_SHORTEST_S: Final = 0.01
_LONGEST_S: Final = 1.0
"""The longest wait, also without any worker: a lease that begins meanwhile ends no earlier."""


class Reaper(Role):
    """Reaps when the next lease ends. Any number of reapers may run."""

    def __init__(self, store: Store, *, rng: Rng | None = None) -> None:
        self._store = store
        self._retry = StoreRetry("reaper", _log, rng or system_rng())
        self._offset_ms = 0

    async def run(self, signals: Signals) -> None:
        """See Role."""
        signals.ready.set()
        while not signals.stop.is_set():
            await self._retry.attempt(lambda: self._reap(signals))

    async def _reap(self, signals: Signals) -> None:
        """Reap once, fire what is due, and wait until the next lease may have ended."""
        recovered = await self._store.reap()
        if recovered.incarnations:
            _log.warning("workers lost: %s; %d tasks taken back", ", ".join(recovered.incarnations), recovered.tasks)
        if recovered.offset_ms > self._offset_ms:
            _log.warning("the server's clock was set back: the pool's time is %d ms ahead of it", recovered.offset_ms)
        self._offset_ms = recovered.offset_ms
        await self._store.fire()
        if not recovered.more:
            due_s = _LONGEST_S if recovered.next_ms is None else recovered.next_ms / 1000
            await signals.pause(min(max(due_s, _SHORTEST_S), _LONGEST_S))
