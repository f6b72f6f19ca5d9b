"""One life of a worker: registered, beating, taking what it is handed and telling how it ended."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from fairlane.clock import Clock, Rng
from fairlane.config import WorkerConfig
from fairlane.errors import StoreError
from fairlane.lifecycle.attempts import Attempts, Stop
from fairlane.lifecycle.backoff import Backoff
from fairlane.lifecycle.ending import Endings
from fairlane.lifecycle.lease import Lease
from fairlane.lifecycle.reports import Reports
from fairlane.lifecycle.sleeper import Sleeper, stopping
from fairlane.providers.base import Provider
from fairlane.store.keys import worker_bell
from fairlane.store.messages import HeartbeatReply, Started
from fairlane.store.store import Store

_CANCEL_WAIT_S: Final = 1.0
"""How long a stopped call may take to end before it is given up."""

_WORTH_A_LOOK: Final = 8
"""Settlements from which on more work is looked for in the same round trip, without waiting for the bell."""
_LAST_WORDS_S: Final = 1.0
"""How long a stopping worker tries to reach a store that does not answer, at least."""
_DIFFERING_BEATS: Final = 2
"""Heartbeats in a row that count other tasks than this worker holds, before it asks for all of them again."""

_log = logging.getLogger(__name__)


class Incarnation:
    """Lives from its registration to the loss of its lease, or to the worker's stop.

    One call to the store is under way at a time; what ends meanwhile goes with the next one. What has ended is
    kept until the store has answered for it, also when the lease is lost: the store then says `stale`.
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
        self._id = incarnation
        self._clock = clock
        self.grace_s = config.grace_ms / 1000
        """How long a stop lets running calls go on; may be changed."""
        heartbeat_s = config.heartbeat_ms / 1000
        self._sleeper = Sleeper(store, worker_bell(incarnation), heartbeat_s=heartbeat_s, rng=rng)
        self._attempts = Attempts(provider, Endings(config, rng), self._sleeper.wake)
        self._reports = Reports(store, incarnation, self._attempts, batch=config.batch)
        self._backoff = Backoff(rng)
        self._cursor = 0
        self._lost = False
        self._draining = False
        self._differing_beats = 0
        self._waits = False
        """Whether the store holds back what it has handed over: an end may let it begin."""
        self._lease: Lease | None = None
        self._hold: asyncio.TimerHandle | None = None

    @property
    def held(self) -> int:
        """Tasks whose attempts it holds."""
        return len(self._attempts.held)

    async def run(self, stop: asyncio.Event, stop_now: asyncio.Event, ready: asyncio.Event) -> None:
        """Live. Returns when the lease is lost, or when ``stop`` was set and everything has been handed in."""
        with stopping(stop, self._sleeper.wake), stopping(stop_now, self._sleeper.wake):
            try:
                if not await self._register(stop):
                    return
                ready.set()
                while not (self._lost or stop.is_set()):
                    await self._turn()
                if not self._lost:
                    await self._retire(stop_now)
                if self._lost:
                    await self._bury(stop)
            finally:
                await self._close()

    async def _register(self, stop: asyncio.Event) -> bool:
        while not stop.is_set():
            lease = Lease(
                self._store,
                self._id,
                period_s=self._config.heartbeat_ms / 1000,
                clock=self._clock,
                on_beat=self._beaten,
                on_lost=self._lose,
            )
            try:
                lease_ms = await self._store.register(self._name, self._id, self._config.slots)
            except StoreError as error:
                await self._wait_out(error)
                continue
            self._backoff.reset()
            self._lease = lease
            lease.begin(lease_ms / 1000)
            return True
        return False

    async def _turn(self, timeout_s: float | None = None) -> None:
        """Do what is due, or sleep until something is."""
        attempts = self._attempts
        if attempts.throttles or attempts.returns:
            await self._answered(self._reports.tell_others)
        if self._sleeper.rung or attempts.settlements:
            await self._answered(self._exchange)
            await asyncio.sleep(0)  # calls that need no time end before the next exchange
        elif not attempts.untold:
            await self._sleeper.sleep(timeout_s)

    async def _retire(self, stop_now: asyncio.Event) -> None:
        """Take nothing new, return what has not begun, finish what runs within the grace time, return the rest."""
        began_s = self._clock.monotonic_s()
        self._draining = True
        self._sleeper.rung = True
        if not await self._answered(self._drain):
            self.grace_s = 0.0
        while self._sleeper.rung or self._attempts.held:
            left_s = began_s + self.grace_s - self._clock.monotonic_s()
            if self._lost or left_s <= 0 or stop_now.is_set():
                break
            await self._turn(left_s)
        if not self._lost:
            await self._end_calls(Stop.RETURN)
            await self._hand_in()
            await self._answered(self._leave)

    async def _bury(self, stop: asyncio.Event) -> None:
        """Abandon what runs, but tell what had ended: if the store was only away, it may still count."""
        await self._end_calls(Stop.ABANDON)
        while self._attempts.untold and not stop.is_set():
            await self._answered(self._reports.tell)
        await self._hand_in()

    async def _end_calls(self, why: Stop) -> None:
        running = [(attempt, attempt.call) for attempt in self._attempts.running]
        for attempt, _ in running:
            self._attempts.stop(attempt.task.fence, why)
        calls = [call for _, call in running if call is not None]
        if calls:
            await asyncio.wait(calls, timeout=_CANCEL_WAIT_S)
        for attempt in self._attempts.running:
            _log.warning("the call for task %s does not end when cancelled", attempt.task.ref)
            self._attempts.give_up(attempt, why)

    async def _hand_in(self) -> None:
        """Tell what has ended, for as long as a stopping worker can wait."""
        until_s = self._clock.monotonic_s() + _LAST_WORDS_S
        while self._attempts.untold:
            told = await self._answered(self._reports.tell)
            if not told and self._clock.monotonic_s() >= until_s:
                _log.warning("worker %s leaves with ended attempts untold", self._name)
                return

    # -- calls to the store ------------------------------------------------------------------------------------

    async def _answered(self, step: Callable[[], Awaitable[None]]) -> bool:
        """Take a step; False, after a pause, if the store did not answer."""
        try:
            await step()
        except StoreError as error:
            await self._wait_out(error)
            return False
        self._backoff.reset()
        return True

    async def _wait_out(self, error: StoreError) -> None:
        _log.warning("worker %s: %s", self._name, error)
        await asyncio.sleep(self._backoff.next_s())

    async def _drain(self) -> None:
        await self._store.drain(self._id)

    async def _leave(self) -> None:
        while (await self._store.evict(self._id)).more:
            pass

    async def _exchange(self) -> None:
        """Settle what has ended, and take what was handed over."""
        sleeper, attempts = self._sleeper, self._attempts
        settling = min(len(attempts.settlements), self._config.batch)
        full = len(attempts.held) - settling >= self._config.slots
        if not (sleeper.rung or self._waits) and (full or settling < _WORTH_A_LOOK):
            await self._reports.settle()
            return
        sleeper.rung = False
        try:
            started = await self._reports.settle_and_start(self._cursor)
        except BaseException:
            sleeper.rung = True
            raise
        self._receive(started)

    def _receive(self, started: Started) -> None:
        if not started.alive:
            self._lose("the store has given it up")
            return
        attempts = self._attempts
        take = attempts.hand_back if self._draining else attempts.begin
        for task in started.tasks:
            self._cursor = max(self._cursor, task.fence)
            take(task)
        for _, fence in started.cancelling:
            attempts.stop(fence, Stop.CANCELLED)
        if started.more:
            self._sleeper.rung = True
        self._waits = started.hold_ms is not None
        if started.hold_ms is not None:
            if self._hold is not None:
                self._hold.cancel()
            self._hold = asyncio.get_running_loop().call_later(started.hold_ms / 1000, self._look)

    def _beaten(self, beat: HeartbeatReply) -> None:
        for _, fence in beat.cancelling:
            self._attempts.stop(fence, Stop.CANCELLED)
        if beat.held == len(self._attempts.held):
            self._differing_beats = 0
            return
        self._differing_beats += 1
        if self._differing_beats >= _DIFFERING_BEATS:
            self._differing_beats = 0
            self._cursor = 0
            self._look()

    def _look(self) -> None:
        self._sleeper.rung = True
        self._sleeper.wake()

    def _lose(self, why: str) -> None:
        if not self._lost:
            self._lost = True
            _log.warning("worker %s incarnation %s is lost: %s", self._name, self._id, why)
            for attempt in self._attempts.running:
                self._attempts.stop(attempt.task.fence, Stop.ABANDON)
            self._sleeper.wake()

    async def _close(self) -> None:
        if self._hold is not None:
            self._hold.cancel()
        for attempt in self._attempts.running:
            self._attempts.stop(attempt.task.fence, Stop.ABANDON)
        await self._sleeper.close()
        if self._lease is not None:
            await self._lease.end()
