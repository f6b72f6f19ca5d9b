"""The worker: lives as one incarnation after the other, each with its own lease, until it is stopped."""

import asyncio
import logging

from fairlane.clock import RANDOM_IDS, SYSTEM_CLOCK, Clock, IdGenerator, Rng, system_rng
from fairlane.config import WorkerConfig
from fairlane.lifecycle.incarnation import Incarnation
from fairlane.providers.base import Provider, run_hook
from fairlane.store.store import Store

_log = logging.getLogger(__name__)


class Worker:
    """Calls the provider for the tasks it is handed. ``name`` is its own in the pool, and outlives its processes."""

    def __init__(
        self,
        store: Store,
        provider: Provider,
        config: WorkerConfig | None = None,
        *,
        name: str,
        clock: Clock = SYSTEM_CLOCK,
        ids: IdGenerator = RANDOM_IDS,
        rng: Rng | None = None,
    ) -> None:
        self.name = name
        self.ready = asyncio.Event()
        """Set while an incarnation is registered."""
        self.incarnation: str | None = None
        """The current incarnation."""
        self._store = store
        self._provider = provider
        self._config = config or WorkerConfig()
        self._grace_s = self._config.grace_ms / 1000
        self._life: Incarnation | None = None
        self._clock = clock
        self._ids = ids
        self._rng = rng or system_rng()

    @property
    def held(self) -> int:
        """Tasks that the current incarnation holds."""
        return 0 if self._life is None else self._life.held

    def set_grace(self, grace_s: float) -> None:
        """Let the coming stop take so long, instead of what the configuration says. From any thread."""
        self._grace_s = grace_s
        if self._life is not None:
            self._life.grace_s = grace_s

    async def run(self, stop: asyncio.Event, stop_now: asyncio.Event | None = None) -> None:
        """Work until ``stop`` is set; then finish what runs within the grace time and hand the rest back.

        ``stop_now`` ends the grace time at once. An incarnation that loses its lease is followed by a new one.
        Cancelling this drops everything: the tasks come back when the lease ends.
        """
        now = stop_now or asyncio.Event()
        await run_hook(self._provider, "open")
        try:
            while not stop.is_set():
                self.incarnation = self._ids.new_id()
                life = self._life = Incarnation(
                    self._store,
                    self._provider,
                    self._config,
                    name=self.name,
                    incarnation=self.incarnation,
                    clock=self._clock,
                    rng=self._rng,
                )
                life.grace_s = self._grace_s
                try:
                    await life.run(stop, now, self.ready)
                finally:
                    self.ready.clear()
        finally:
            await run_hook(self._provider, "close")
