"""One life of a worker: registers, renews its lease, takes the tasks handed to it and reports how they ended."""

import asyncio
import logging
from typing import Final

from fairlane.backoff import StoreRetry
from fairlane.clock import Clock, Rng
from fairlane.config import WorkerConfig
from fairlane.lifecycle.attempts import CANCEL_WAIT_S, Attempts, Reports, Stop
from fairlane.lifecycle.ending import Endings
from fairlane.lifecycle.lease import Lease
from fairlane.lifecycle.sleeper import Sleeper
from fairlane.providers.base import Provider
from fairlane.run import Signals
from fairlane.store.keys import worker_bell
from fairlane.store.messages import HeartbeatReply, Started
from fairlane.store.store import Store

_LAST_REPORTS_S: Final = 1.0
"""How long a stopping worker tries to reach a store that does not answer, at least."""
_DIFFERING_BEATS: Final = 2
"""After this number of heartbeats in a row that disagree with the tasks this worker holds, it asks for all again."""

_log = logging.getLogger(__name__)


class Incarnation:
    """Lives from its registration to the loss of its lease, or to the worker's stop.

    One call to the store is under way at a time; attempts that end meanwhile are reported with the next one. An ended
    attempt is kept until the store has answered for it, also when the lease is lost: the store then says `stale`.
    """

    def __init__(
        self,
        store: Store,
        provider: Provider,
        config: WorkerConfig,
        *,
        name: str,
        incarnation: str,
        clock: Clock,
        rng: Rng,
    ) -> None:
        self._store = store
        self._config = config
        self._name = name
        self.id: Final = incarnation
        self._clock = clock
        heartbeat_s = config.heartbeat_ms / 1000
        self._sleeper = Sleeper(store, worker_bell(incarnation), heartbeat_s=heartbeat_s, rng=rng)
        self._attempts = Attempts(provider, Endings(config, rng), self._sleeper.wake)
        self._reports = Reports(store, incarnation, self._attempts, batch=config.batch)
        self._retry = StoreRetry(f"worker {name}", _log, rng)
        self._cursor = 0
        self._lost = False
        self._left = False
        self._draining = False
        self._differing_beats = 0
        self._lease: Lease | None = None
        self._poll_timer: asyncio.TimerHandle | None = None

    @property
    def held(self) -> int:
        """How many tasks it holds."""
        return self._attempts.held

    async def run(self, signals: Signals) -> None:
        """Live. Returns when the lease is lost, or when a stop was requested and all attempts are reported."""
        with signals.waking(self._sleeper.wake):
            try:
                while not await self._retry.attempt(self._register):
                    if signals.stop.is_set():
                        return
                signals.ready.set()
                while not (self._lost or signals.stop.is_set()):
                    await self._turn()
                if not self._lost:
                    await self._retire(signals)
                if self._lost:
                    await self._abandon(signals)
            finally:
                await self._close()

    async def _register(self) -> None:
        lease = Lease(
            self._store,
            self.id,
            period_s=self._config.heartbeat_ms / 1000,
            clock=self._clock,
            on_beat=self._compare,
            on_lost=self._lose,
        )
        lease_ms = await self._store.register(self._name, self.id, self._config.slots)
        self._lease = lease
        lease.begin(lease_ms / 1000)

    async def _turn(self, timeout_s: float | None = None) -> None:
        """Report and take tasks if there are any; else sleep until there are."""
        attempts = self._attempts
        if attempts.to_give_back:
            await self._retry.attempt(self._reports.give_back)
        if self._sleeper.rung or attempts.to_settle:
            await self._retry.attempt(self._exchange)
            await asyncio.sleep(0)  # calls that need no time end before the next exchange
        elif not attempts.to_give_back:
            await self._sleeper.sleep(timeout_s)

    async def _retire(self, signals: Signals) -> None:
        """Return the tasks that have not begun, and finish the others within the grace time or return them, too."""
        began_s = self._clock.monotonic_s()
        self._draining = True
        self._sleeper.rung = True
        drained = await self._retry.attempt(lambda: self._store.drain(self.id))
        while drained and (self._sleeper.rung or self._attempts.held):
            grace_s = self._config.grace_ms / 1000 if signals.grace_s is None else signals.grace_s
            left_s = began_s + grace_s - self._clock.monotonic_s()
            if self._lost or left_s <= 0 or signals.stop_now.is_set():
                break
            await self._turn(left_s)
        if not self._lost:
            await self._end_calls(Stop.RETURN)
            await self._flush()
            if self._lease is not None:
                await self._lease.end()  # or a heartbeat would find the incarnation gone, and warn
            self._left = True
            await self._retry.attempt(self._leave)

    async def _abandon(self, signals: Signals) -> None:
        """End what runs, but report attempts that had ended: if only the store was away, they may still count."""
        await self._end_calls(Stop.ABANDON)
        while self._unreported and not signals.stop.is_set():
            await self._retry.attempt(self._reports.report)
        await self._flush()

    async def _end_calls(self, why: Stop) -> None:
        running = [(attempt, attempt.call) for attempt in self._attempts.running]
        for attempt, _ in running:
            self._attempts.stop(attempt.task.fence, why)
        calls = [call for _, call in running if call is not None]
        if calls:
            await asyncio.wait(calls, timeout=CANCEL_WAIT_S)
        for attempt in self._attempts.running:
            self._attempts.give_up(attempt)

    async def _flush(self) -> None:
        """Report all ended attempts, for as long as a stopping worker can wait."""
        until_s = self._clock.monotonic_s() + _LAST_REPORTS_S
        while self._unreported:
            reported = await self._retry.attempt(self._reports.report)
            if not reported and self._clock.monotonic_s() >= until_s:
                _log.warning("worker %s leaves; the store does not know how all of its attempts ended", self._name)
                return

    @property
    def _unreported(self) -> int:
        return self._attempts.to_settle + self._attempts.to_give_back

    async def _leave(self) -> None:
        while (await self._store.evict(self.id)).more:
            pass

    async def _exchange(self) -> None:
        """Settle a batch of ended attempts, and take the next tasks."""
        sleeper = self._sleeper
        sleeper.rung = False
        asked_s = asyncio.get_running_loop().time()
        try:
            started = await self._reports.settle_and_start(self._cursor)
        except BaseException:
            sleeper.rung = True
            raise
        self._take(started, asked_s)

    def _take(self, started: Started, asked_s: float) -> None:
        if not started.alive:
            self._lose("the store has given it up")
            return
        attempts = self._attempts
        for task in started.tasks:
            self._cursor = max(self._cursor, task.fence)
            if self._draining:
                attempts.hand_back(task)
            else:
                attempts.begin(task, asked_s)
        for _, fence in started.cancelling:
            attempts.stop(fence, Stop.CANCELLED)
        if started.more:
            self._sleeper.rung = True
        if started.hold_ms is not None:
            if self._poll_timer is not None:
                self._poll_timer.cancel()
            self._poll_timer = asyncio.get_running_loop().call_later(started.hold_ms / 1000, self._poll)

    def _compare(self, beat: HeartbeatReply) -> None:
        """Compare the store's view, from a heartbeat's reply, with the attempts held here."""
        for _, fence in beat.cancelling:
            self._attempts.stop(fence, Stop.CANCELLED)
        if beat.held == self._attempts.held:
            self._differing_beats = 0
            return
        self._differing_beats += 1
        if self._differing_beats >= _DIFFERING_BEATS:
            self._differing_beats = 0
            self._cursor = 0
            self._poll()

    def _poll(self) -> None:
        self._sleeper.rung = True
        self._sleeper.wake()

    def _lose(self, why: str) -> None:
        if not (self._lost or self._left):
            self._lost = True
            _log.warning("worker %s incarnation %s is lost: %s", self._name, self.id, why)
            for attempt in self._attempts.running:
                self._attempts.stop(attempt.task.fence, Stop.ABANDON)
            self._sleeper.wake()

    async def _close(self) -> None:
        if self._poll_timer is not None:
            self._poll_timer.cancel()
        for attempt in self._attempts.running:
            self._attempts.stop(attempt.task.fence, Stop.ABANDON)
        await self._sleeper.close()
        if self._lease is not None:
            await self._lease.end()
