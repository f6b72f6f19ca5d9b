"""The dispatcher: offers free worker slots to the store, which decides whose tasks take them, now or when they come.

Holds nothing that is not in the store. Any number of dispatchers may run: they cost throughput, never correctness.
"""

import logging
from typing import Final

from fairlane.backoff import StoreRetry
from fairlane.clock import SYSTEM_CLOCK, Clock, Rng, system_rng
from fairlane.config import DispatcherConfig
from fairlane.domain.policy import StopReason, WorkerState
from fairlane.lifecycle.plan import KEPT, Planner
from fairlane.lifecycle.sleeper import Sleeper
from fairlane.run import Role, Signals
from fairlane.store.keys import DISPATCHER_BELL
from fairlane.store.messages import Dispatched
from fairlane.store.store import Store
from fairlane.workers.strategies import make_strategy

_log = logging.getLogger(__name__)

_MORE_AT_ONCE: Final = frozenset({StopReason.BATCH, StopReason.VISITS})
_NO_MORE_MAY_RUN: Final = frozenset({StopReason.CAPACITY, StopReason.COST, StopReason.STARTS, StopReason.SPEND})
"""The stops after which only the slots that busy workers free are left to place tasks in."""


class Dispatcher(Role):
    """Places tasks with workers whenever there may be tasks to place.

    Raises:
        WorkerError: invalid_configuration: ``config.strategy`` names no strategy.
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
        self._store = store
        self._batch = config.batch
        self._heartbeat_s = config.heartbeat_ms / 1000
        self._clock = clock
        self._planner = Planner(make_strategy(config.strategy, rng))
        self._sleeper = Sleeper(store, DISPATCHER_BELL, heartbeat_s=self._heartbeat_s, rng=rng)
        self._retry = StoreRetry("dispatcher", _log, rng)
        self._known_fleet = -1
        """The store's count of changes to its workers, as of the last reading; -1: read them again."""
        self._workers_changed = False
        self._missed = False
        """Whether the last plan offered only places that another dispatcher had filled."""
        self._level = False
        """Whether the next plan binds workers to their share."""
        self._levels = False
        """Whether it should be the first to do so, at once."""
        self._outdated = False
        """Whether the last plan was outdated when it was made."""
        self._read_at_s = 0.0

    async def run(self, signals: Signals) -> None:
        """See Role. Ready once the store has answered."""
        try:
            with signals.waking(self._sleeper.wake):
                while not signals.stop.is_set():
                    await self._retry.attempt(lambda: self._turn(signals))
        finally:
            await self._sleeper.close()

    async def _turn(self, signals: Signals) -> None:
        """Place a batch, and sleep unless another one may place more."""
        answer = await self._place()
        signals.ready.set()
        if not self._may_place_more(answer):
            await self._sleeper.sleep(None if answer.wake_ms is None else answer.wake_ms / 1000)

    async def _place(self) -> Dispatched:
        """Offer a batch of places to the store, and learn the free slots from its answer."""
        known, self._known_fleet = self._known_fleet, -1  # if the store fails, its workers are read again
        if known < 0 or self._clock.monotonic_s() - self._read_at_s >= self._heartbeat_s:
            await self._read_workers()
        plan = self._planner.plan(self._batch, level=self._level)
        answer = await self._store.dispatch(plan, self._batch, keep=KEPT, unused=self._planner.kept)
        self._planner.answered(answer.placed, answer.free, unused=answer.unused, kept=answer.kept)
        if answer.fleet != known:
            await self._read_workers()
            self._workers_changed = True
        self._known_fleet = answer.fleet
        levelled, self._level = self._level, answer.stop in _NO_MORE_MAY_RUN and self._planner.uneven
        self._levels = self._level and not levelled
        return answer

    def _may_place_more(self, answer: Dispatched) -> bool:
        """Say whether another call at once may place more, or keep places in better order."""
        changed, self._workers_changed = self._workers_changed, False
        missed, self._missed = self._missed, answer.stop is StopReason.WORKERS and answer.placed == 0
        if answer.stop is StopReason.WORKERS:
            return changed or (self._planner.has_free and not (missed and self._missed))
        outdated, self._outdated = self._outdated, self._planner.outdated
        return answer.stop in _MORE_AT_ONCE or self._levels or (self._outdated and not outdated)

    async def _read_workers(self) -> None:
        self._read_at_s = self._clock.monotonic_s()
        self._planner.know(
            {
                worker.incarnation: (worker.slots, max(0, worker.slots - worker.load))
                for worker in await self._store.workers()
                if worker.state is WorkerState.LIVE and worker.lease_left_ms > 0
            }
        )
