"""The controller: ticks the store, which decides the capacity. Any number of controllers may run."""

import logging
from typing import Final

from fairlane.backoff import StoreRetry
from fairlane.clock import Rng, system_rng
from fairlane.config import ControllerConfig
from fairlane.domain.policy import CapacityReason
from fairlane.run import Role, Signals
from fairlane.store.store import Store

_log = logging.getLogger(__name__)

_SHORTEST_S: Final = 0.005
_CHANGES = frozenset({CapacityReason.DECREASED, CapacityReason.RECOVERED})


class Controller(Role):
    """Ticks at the time that the store names for the next tick. While the store is away, the capacity stays."""

    def __init__(self, store: Store, config: ControllerConfig | None = None, *, rng: Rng | None = None) -> None:
        self._store = store
        self._config = config or ControllerConfig()
        self._retry = StoreRetry("controller", _log, rng or system_rng())

    async def run(self, signals: Signals) -> None:
        """See Role. A controller that is switched off only waits for the stop."""
        signals.ready.set()
        if not self._config.enabled:
            await signals.stop.wait()
        while not signals.stop.is_set():
            await self._retry.attempt(lambda: self._tick(signals))

    async def _tick(self, signals: Signals) -> None:
        tick = await self._store.adapt(self._config)
        if tick.reason in _CHANGES:
            _log.info("capacity %d -> %d: %s", tick.before, tick.after, tick.reason)
        await signals.pause(max(_SHORTEST_S, tick.next_ms / 1000))
