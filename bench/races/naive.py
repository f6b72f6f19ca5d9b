"""A capacity controller that reads, decides, and then writes: broken when a second one does the same.

Each controller finds the last change long enough ago and recovers by one. The barrier stands where a network delay
or a scheduler's pause would stand.
"""

import asyncio
from dataclasses import dataclass

from redis.asyncio import Redis


@dataclass(frozen=True)
class NaiveOutcome:
    """What the controllers read, and the capacity after their writes."""

    read: tuple[int, ...]
    after: int


async def race(url: str, key: str, *, capacity: int, contenders: int, kept_ms: int = 60_000) -> NaiveOutcome:
    """Let ``contenders`` controllers recover ``capacity`` by one at the same instant. Leaves no key behind."""
    barrier = asyncio.Barrier(contenders)
    async with Redis.from_url(url) as owner:
        await owner.hset(key, mapping={"capacity": capacity, "changed_ms": 0})
        await owner.pexpire(key, kept_ms)
        try:
            read = await asyncio.gather(*(_controller(url, key, barrier) for _ in range(contenders)))
            return NaiveOutcome(tuple(read), int(await owner.hget(key, "capacity") or 0))
        finally:
            await owner.delete(key)


async def _controller(url: str, key: str, barrier: asyncio.Barrier) -> int:
    async with Redis.from_url(url) as client:
        seconds, _ = await client.time()
        capacity, changed_ms = (int(value or 0) for value in await client.hmget(key, "capacity", "changed_ms"))
        cooled_down = seconds * 1000 - changed_ms > 800
        await barrier.wait()
        if cooled_down:
            async with client.pipeline() as writes:
                writes.hincrby(key, "capacity", 1)
                writes.hset(key, "changed_ms", seconds * 1000)
                await writes.execute()
        return capacity
