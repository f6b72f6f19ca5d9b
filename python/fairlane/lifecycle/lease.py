"""A worker's lease as the worker sees it: heartbeats renew it, and a timer ends it when none was answered in time."""

import asyncio
from collections.abc import Callable

from fairlane.clock import Clock
from fairlane.store.heartbeat import HeartbeatThread
from fairlane.store.messages import HeartbeatReply
from fairlane.store.store import Store


class Lease:
    """One incarnation's lease. Make it before the registration is sent: the lease counts from then at the latest.

    ``on_beat`` and ``on_lost`` are called on the loop that made it.
    """

    def __init__(
        self,
        store: Store,
        incarnation: str,
        *,
        period_s: float,
        clock: Clock,
        on_beat: Callable[[HeartbeatReply], None],
        on_lost: Callable[[str], None],
    ) -> None:
        self._clock = clock
        self._on_lost = on_lost
        self._loop = asyncio.get_running_loop()
        self._lease_s = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._heartbeat = HeartbeatThread(
            store.endpoint,
            store.name,
            incarnation,
            period_s,
            lambda reply: self._on_loop(lambda: on_beat(reply)),
            lambda: self._on_loop(lambda: on_lost("the store has given it up")),
            clock=clock,
        )

    def begin(self, lease_s: float) -> None:
        """Begin to send heartbeats; the store has granted ``lease_s``."""
        self._lease_s = lease_s
        self._heartbeat.start()
        self._watch()

    async def end(self) -> None:
        """Stop sending heartbeats."""
        if self._timer is not None:
            self._timer.cancel()
        await asyncio.to_thread(self._heartbeat.stop)

    def _on_loop(self, then: Callable[[], None]) -> None:
        self._loop.call_soon_threadsafe(then)

    def _watch(self) -> None:
        left_s = self._heartbeat.last_sent_s + self._lease_s - self._clock.monotonic_s()
        if left_s <= 0:
            self._on_lost("no heartbeat was answered for a whole lease")
        else:
            self._timer = self._loop.call_later(left_s, self._watch)
