"""A worker's heartbeat, on its own thread and connection, so that a busy event loop cannot delay it."""

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
from fairlane.store.messages import HeartbeatReply
from fairlane.store.requests import encode


def decode_heartbeat(data: bytes) -> HeartbeatReply:
    """Decode the reply of `heartbeat`."""
    alive, held, runnable, stopping = unpack(data)
    return HeartbeatReply(
        alive=bool(alive),
        held=held,
        cancelling=tuple((split_name(name), fence) for name, fence in stopping),
        runnable=runnable,
    )


class HeartbeatThread:
    """Sends a heartbeat per period until `stop`, or until the store answers that the incarnation is lost.

    ``on_reply`` and ``on_lost`` are called on this thread. A heartbeat that fails is sent again after a quarter of a
    period. The owner compares ``last_sent_s`` with its lease to know when it must stop working.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        name: str,
        incarnation: str,
        period_s: float,
        on_reply: Callable[[HeartbeatReply], None],
        on_lost: Callable[[], None],
        *,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._endpoint = endpoint
        self._keys = Keys(name)
        self._incarnation = incarnation
        self._period_s = period_s
        self._on_reply = on_reply
        self._on_lost = on_lost
        self._clock = clock
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"heartbeat-{incarnation}", daemon=True)
        self.last_sent_s = clock.monotonic_s()
        """When the last heartbeat that got a reply was sent (monotonic seconds)."""

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread, and wait for a heartbeat in flight: at most about a period."""
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
                reply = self._send(script)
                if reply is None:
                    pause_s = self._period_s / 4
                    continue
                pause_s = self._period_s
                if not reply.alive:
                    self._on_lost()
                    return
                self._on_reply(reply)
        finally:
            client.close()

    def _send(self, script: Any) -> HeartbeatReply | None:  # noqa: ANN401 - redis-py's script object
        sent_s = self._clock.monotonic_s()
        try:
            raw = script(keys=[self._keys.pool], args=[0, encode("heartbeat", incarnation=self._incarnation)])
        except (*LOST, exceptions.RedisError):
            return None
        self.last_sent_s = sent_s
        return decode_heartbeat(raw)
