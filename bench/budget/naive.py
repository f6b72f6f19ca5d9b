"""A budget that is read, judged, and then written: broken when others do the same at the same time.

Each contender has its own connection. The barrier stands where a network delay or a scheduler's pause would
stand: between the check and the write.
"""

import asyncio
from dataclasses import dataclass

from redis.asyncio import Redis


@dataclass(frozen=True)
class NaiveBudget:
    """The reading of each contender, the number that admitted their task, and the rest in the ledger."""

    read: tuple[int, ...]
    accepted: int
    remaining: int


async def race(url: str, key: str, *, budget: int, cost: int, contenders: int, kept_ms: int = 60_000) -> NaiveBudget:
    """Let ``contenders`` each take ``cost`` from ``budget`` at the same instant. Leaves no key behind."""
    barrier = asyncio.Barrier(contenders)
    async with Redis.from_url(url) as owner:
        await owner.set(key, budget, px=kept_ms)
        try:
            answers = await asyncio.gather(*(_contender(url, key, cost, barrier) for _ in range(contenders)))
            return NaiveBudget(
                read=tuple(read for read, _ in answers),
                accepted=sum(accepted for _, accepted in answers),
                remaining=int(await owner.get(key) or 0),
            )
        finally:
            await owner.delete(key)


async def _contender(url: str, key: str, cost: int, barrier: asyncio.Barrier) -> tuple[int, bool]:
    async with Redis.from_url(url) as client:
        remaining = int(await client.get(key) or 0)
        await barrier.wait()
        if remaining < cost:
            return remaining, False
        await client.set(key, remaining - cost, keepttl=True)
        return remaining, True
