"""The simulated provider: takes a known time and cost per call, and throttles above a limit that follows a schedule.

It counts what runs in the whole pool through its own connection and its own keys (``bench:{<run>}:*``), so that what
it sees does not come from the scheduler. Each call in progress holds a place with an expiry, so that a worker that
dies gives its places back.
"""

import asyncio
import os
import secrets
from dataclasses import dataclass, field
from typing import Any, Final

from redis.asyncio import Redis

from fairlane.clock import SYSTEM_CLOCK
from fairlane.config import REDIS_URL_VARIABLE
from fairlane.errors import ProviderRefused, Throttled
from fairlane.providers.base import Call, Reply

PLACE_MS: Final = 10_000
"""A call in progress longer than this counts as dead."""
KEPT_MS: Final = 600_000
"""How long the counting keys outlive their last use."""

_ENTER: Final = """
-- Take a place if the limit of this moment allows. The peak counts also a call that is refused: else it could never
-- exceed the limit, however many calls come. KEYS: running, start, peak.
-- ARGV: call, place_ms, kept_ms, then pairs from_ms, limit. Returns 1 if taken, 0 if not.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local start = tonumber(redis.call('GET', KEYS[2]) or now)
local limit = 0
for i = 4, #ARGV, 2 do
  if now - start >= tonumber(ARGV[i]) or i == 4 then limit = tonumber(ARGV[i + 1]) end
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local running = redis.call('ZCARD', KEYS[1])
if running + 1 > tonumber(redis.call('GET', KEYS[3]) or 0) then
  redis.call('SET', KEYS[3], running + 1, 'PX', ARGV[3])
end
if running >= limit then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
"""

_LEAVE: Final = """
-- Give the place back. KEYS: running. ARGV: call. Returns now_us.
redis.call('ZREM', KEYS[1], ARGV[1])
local time = redis.call('TIME')
return string.format('%.0f', time[1] * 1000000 + time[2])
"""


@dataclass(frozen=True)
class Counter:
    """The keys in which the calls of one run are counted, seen from outside."""

    url: str = field(repr=False)
    run: str

    async def start_clock(self) -> int:
        """Start the schedule now; return the server's time in milliseconds. Forgets the peak so far."""
        async with Redis.from_url(self.url) as client:
            seconds, micros = await client.time()
            now_ms = int(seconds) * 1000 + int(micros) // 1000
            await client.set(_key(self.run, "start"), now_ms, px=KEPT_MS)
            await client.delete(_key(self.run, "peak"))
            return now_ms

    async def peak(self) -> int:
        """Return the most calls at once since the clock started; a refused call counts with those in progress."""
        async with Redis.from_url(self.url) as client:
            return int(await client.get(_key(self.run, "peak")) or 0)

    async def forget(self) -> None:
        """Remove what was counted."""
        async with Redis.from_url(self.url) as client:
            await client.delete(*(_key(self.run, name) for name in ("running", "start", "peak", "throttled")))


@dataclass
class SimulatedProvider:
    """A provider for scenarios.

    A payload is ``{"ms": duration, "units": actual cost}``; with ``"throttle_ms"`` the task's first call, on any
    worker, is throttled for this time. The result says when, by the server's clock, the call began and ended, and the
    number the attempt has for the worker: ``{"entered_us", "left_us", "attempt"}``. The schedule's limits count from
    the moment ``Counter.start_clock`` was called; before that the first one holds. ``url`` None: it is a secret, and
    in the worker's environment. Pickles as long as it is not open.
    """

    url: str | None = field(repr=False)
    run: str
    schedule: tuple[tuple[int, int], ...]
    retry_after_ms: int = 20
    _client: Any = field(default=None, repr=False, compare=False)

    async def open(self) -> None:
        """Connect; called on the worker's loop."""
        self._client = Redis.from_url(self.url or os.environ[REDIS_URL_VARIABLE])
        self._enter = self._client.register_script(_ENTER)
        self._leave = self._client.register_script(_LEAVE)

    async def close(self) -> None:
        """Disconnect."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def call(self, call: Call) -> Reply:
        """Hold a place for the payload's duration.

        Raises:
            Throttled: as many calls as the present limit are in progress, or the payload wants it.
            ProviderRefused: the payload is not one of this provider's.
        """
        match call.payload:
            case {"ms": int(duration_ms), "units": int(units), **wishes}:
                pass
            case _:
                raise ProviderRefused("the simulated provider wants {'ms': ..., 'units': ...}")
        await self._throttle_first(call, wishes.get("throttle_ms"))
        steps = [number for step in self.schedule for number in step]
        keys = [_key(self.run, name) for name in ("running", "start", "peak")]
        place = secrets.token_hex(8)
        began_s = SYSTEM_CLOCK.monotonic_s()
        entering = asyncio.ensure_future(self._enter(keys=keys, args=[place, PLACE_MS, KEPT_MS, *steps]))
        try:
            if not await asyncio.shield(entering):
                raise Throttled("more calls at once than the provider takes", retry_after_ms=self.retry_after_ms)
            await asyncio.sleep(duration_ms / 1000)
        finally:
            await asyncio.wait(
                {entering}
            )  # a call cancelled here would leave before it had entered, and keep its place
            left_us = int(await self._leave(keys=keys[:1], args=[place]))
        entered_us = left_us - int((SYSTEM_CLOCK.monotonic_s() - began_s) * 1_000_000)
        marks = {"entered_us": entered_us, "left_us": left_us, "attempt": call.attempt}
        return Reply(result=marks, actual_units=units)

    async def _throttle_first(self, call: Call, throttle_ms: object) -> None:
        if not isinstance(throttle_ms, int):
            return
        key = _key(self.run, "throttled")
        if await self._client.sadd(key, f"{call.tenant}:{call.task_id}"):
            await self._client.pexpire(key, KEPT_MS)
            raise Throttled("the first call of this task is throttled", retry_after_ms=throttle_ms)


def _key(run: str, name: str) -> str:
    return f"bench:{{{run}}}:{name}"


class InstantProvider:
    """Answers at once, for measuring what the scheduler costs."""

    async def call(self, call: Call) -> Reply:
        """Return nothing, at the estimate."""
        return Reply(result=None, actual_units=call.cost)
