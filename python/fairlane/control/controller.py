"""The controller: gives the store its ticks. The whole decision is the store's, so any number may run."""

import asyncio
import logging
from contextlib import suppress
from typing import Final

from fairlane.config import ControllerConfig
from fairlane.domain.policy import CapacityReason
from fairlane.errors import StoreError
from fairlane.store.store import Store

_log = logging.getLogger(__name__)

_SHORTEST_S: Final = 0.005
_CHANGES = frozenset({CapacityReason.DECREASED, CapacityReason.RECOVERED})


class Controller:
    """Ticks when the store says that the next tick may count."""

    def __init__(self, store: Store, config: ControllerConfig | None = None) -> None:
        self._store = store
        self._config = config or ControllerConfig()

    async def run(self, stop: asyncio.Event) -> None:
        """Tick until ``stop`` is set. While the store fails the last capacity holds."""
        if not self._config.enabled:
            await stop.wait()
        while not stop.is_set():
            wait_s = await self._tick()
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), wait_s)

    async def _tick(self) -> float:
        """Tick once; return the seconds until the next tick."""
        try:
            tick = await self._store.adapt(self._config)
        except StoreError as error:
            _log.warning("controller: %s", error)
            return self._config.period_ms / 1000
        if tick.reason in _CHANGES:
            _log.info("capacity %d -> %d: %s", tick.before, tick.after, tick.reason)
        return max(_SHORTEST_S, tick.next_ms / 1000)
