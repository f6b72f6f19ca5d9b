"""A worker's heartbeat, from its own thread and connection, so that a busy event loop cannot starve it."""

import threading
from collections.abc import Callable
from typing import Any

from redis import Redis, exceptions
from redis.backoff import NoBackoff
from redis.retry import Retry

from fairlane.clock import SYSTEM_CLOCK, Clock
from fairlane.store import scripts
from fairlane.store.codec import split_name, unpack
from fairlane.store.connection import LOST, Endpoint
from fairlane.store.keys import Keys
from fairlane.store.messages import Beat
from fairlane.store.requests import encode


def decode_beat(data: bytes) -> Beat:
    """Decode the reply of `heartbeat`."""
    alive, held, runnable, stopping = unpack(data)
    return Beat(
        alive=bool(alive),
        held=held,
        cancelling=tuple((split_name(name), fence) for name, fence in stopping),
        runnable=runnable,
    )


class Heart:
    """Beats once per period until stopped or until the store says that the incarnation is lost.

    ``on_beat`` and ``on_lost`` are called on the heart's thread. A failed beat is tried again after a short while;
    the owner compares ``last_sent_s`` with its lease to know when it must give up.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        name: str,
        incarnation: str,
        period_s: float,
        on_beat: Callable[[Beat], None],
        on_lost: Callable[[], None],
        *,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._endpoint = endpoint
        self._keys = Keys(name)
        self._incarnation = incarnation
        self._period_s = period_s
        self._on_beat = on_beat
        self._on_lost = on_lost
        self._clock = clock
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"heart-{incarnation}", daemon=True)
        self.last_sent_s = clock.monotonic_s()
        """When the last beat that was answered had been sent (monotonic seconds)."""

    def start(self) -> None:
        """Start beating."""
        self._thread.start()

    def stop(self) -> None:
        """Stop beating, and wait for a beat on its way (at most about a period)."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        client = Redis.from_url(
            self._endpoint.url,
            socket_timeout=self._period_s,
            socket_connect_timeout=self._period_s,
            retry=Retry(NoBackoff(), 0),
            protocol=2,
        )
        script = client.register_script(scripts.source("heartbeat"))
        try:
            pause_s = self._period_s
            while not self._stop.wait(pause_s):
                beat = self._beat(script)
                if beat is None:
                    pause_s = self._period_s / 4
                    continue
                pause_s = self._period_s
                if not beat.alive:
                    self._on_lost()
                    return
                self._on_beat(beat)
        finally:
            client.close()

    def _beat(self, script: Any) -> Beat | None:  # noqa: ANN401 - redis-py's script object
        sent_s = self._clock.monotonic_s()
        try:
            reply = script(keys=[self._keys.pool], args=[0, encode("heartbeat", incarnation=self._incarnation)])
        except (*LOST, exceptions.RedisError):
            return None
        self.last_sent_s = sent_s
        return decode_beat(reply)
