"""The dispatcher: offers free worker slots to the store, which decides whose tasks take them.

Holds nothing that is not in the store. Any number of dispatchers may run: they cost throughput, never correctness.
"""

import asyncio
import logging
from typing import Final

from fairlane.clock import SYSTEM_CLOCK, Clock, Rng, system_rng
from fairlane.config import DispatcherConfig
from fairlane.domain.policy import StopReason, WorkerState
from fairlane.errors import StoreError
from fairlane.lifecycle.backoff import Backoff
from fairlane.lifecycle.plan import Planner
from fairlane.lifecycle.sleeper import Sleeper, stopping
from fairlane.store.keys import DISPATCHER_BELL
from fairlane.store.messages import Dispatched
from fairlane.store.store import Store
from fairlane.workers.strategies import make_strategy

_log = logging.getLogger(__name__)

_GO_ON: Final = frozenset({StopReason.BATCH, StopReason.VISITS})


class Dispatcher:
    """Places tasks with workers whenever there may be some to place.

    Raises:
        WorkerError: invalid_configuration: the place that the config names has no strategy.
    """

    def __init__(
        self,
        store: Store,
        config: DispatcherConfig | None = None,
        *,
        clock: Clock = SYSTEM_CLOCK,
        rng: Rng | None = None,
    ) -> None:
        config = config or DispatcherConfig()
        rng = rng or system_rng()
        self.ready = asyncio.Event()
        """Set once the store has answered."""
        self._store = store
        self._batch = config.batch
        self._heartbeat_s = config.heartbeat_ms / 1000
        self._clock = clock
        self._planner = Planner(make_strategy(config.strategy, rng))
        self._sleeper = Sleeper(store, DISPATCHER_BELL, heartbeat_s=self._heartbeat_s, rng=rng)
        self._backoff = Backoff(rng)
        self._fleet = -1
        self._fleet_is_news = False
        self._missed = False
        """Whether the last plan offered only places that another dispatcher had filled."""
        self._read_at_s = 0.0

    async def run(self, stop: asyncio.Event) -> None:
        """Dispatch until ``stop`` is set. The store's failures are waited out."""
        try:
            with stopping(stop, self._sleeper.wake):
                while not stop.is_set():
                    try:
                        answer = await self._place()
                    except StoreError as error:
                        _log.warning("dispatcher: %s", error)
                        self._fleet = -1
                        await asyncio.sleep(self._backoff.next_s())
                        continue
                    self._backoff.reset()
                    self.ready.set()
                    if not self._goes_on(answer):
                        await self._sleeper.sleep(None if answer.wake_ms is None else answer.wake_ms / 1000)
        finally:
            await self._sleeper.close()

    async def _place(self) -> Dispatched:
        """Offer a batch of places to the store, and learn what is free from its answer."""
        if self._fleet < 0 or self._clock.monotonic_s() - self._read_at_s >= self._heartbeat_s:
            await self._read_workers()
        answer = await self._store.dispatch(self._planner.plan(self._batch), self._batch)
        self._planner.answered(answer.placed, answer.free)
        if answer.fleet != self._fleet:
            await self._read_workers()
            self._fleet = answer.fleet
            self._fleet_is_news = True
        return answer

    def _goes_on(self, answer: Dispatched) -> bool:
        """Whether another call at once may place more."""
        news, self._fleet_is_news = self._fleet_is_news, False
        missed, self._missed = self._missed, answer.stop is StopReason.WORKERS and answer.placed == 0
        if answer.stop is StopReason.WORKERS:
            return news or (self._planner.has_free and not (missed and self._missed))
        return answer.stop in _GO_ON

    async def _read_workers(self) -> None:
        self._read_at_s = self._clock.monotonic_s()
        self._planner.know(
            {
                worker.incarnation: (worker.slots, max(0, worker.slots - worker.load))
                for worker in await self._store.workers()
                if worker.state is WorkerState.LIVE and worker.lease_left_ms > 0
            }
        )
