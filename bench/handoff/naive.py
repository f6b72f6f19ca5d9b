"""A dispatcher that reserves a task's slot and cost, and then hands the task over: broken when it dies in between.

Run as a program it is that dispatcher: it finds the server in the environment, takes the first waiting task, and
prints each step. Between the steps it waits for standard input, where any delay could stand.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from redis import Redis
from redis.asyncio import Redis as AsyncRedis

URL_VARIABLE = "BENCH_NAIVE_URL"
SLOTS = 1
_ROOT = Path(__file__).resolve().parents[2]
_ANSWER_S = 60.0


@dataclass(frozen=True)
class NaiveHandoff:
    """The state that a dispatcher killed between its two steps leaves, and the next dispatcher's answer."""

    orphans: tuple[str, ...]
    """Reserved, and in no worker's queue."""
    slots: int
    cost: int
    handed_over: int
    next_says: str
    killed_by: int
    """The signal that ended the dispatcher."""


async def race(url: str, prefix: str, *, cost: int, kept_ms: int = 60_000) -> NaiveHandoff:
    """Kill a dispatcher in the gap and run another one. Leaves no key behind."""
    keys = [f"{prefix}:{name}" for name in ("waiting", "held", "attempts", "queue")]
    waiting, held, attempts, queue = keys
    async with AsyncRedis.from_url(url, decode_responses=True) as owner:
        try:
            await owner.rpush(waiting, "task-1", "task-2")
            await owner.hset(held, mapping={"slots": 0, "cost": 0})
            for key in (waiting, held):
                await owner.pexpire(key, kept_ms)
            async with _dispatcher(url, prefix, cost) as first:
                await _expect(first, "reserved")
                first.kill()
                code = await first.wait()
            async with _dispatcher(url, prefix, cost) as second:
                said, _ = await asyncio.wait_for(second.communicate(b"\n"), _ANSWER_S)
            handed_over = set(await owner.lrange(queue, 0, -1))
            slots, held_cost = await owner.hmget(held, "slots", "cost")
            return NaiveHandoff(
                orphans=tuple(sorted(str(each) for each in await owner.hkeys(attempts) if each not in handed_over)),
                slots=int(slots or 0),
                cost=int(held_cost or 0),
                handed_over=len(handed_over),
                next_says=said.decode().strip(),
                killed_by=-code,
            )
        finally:
            await owner.delete(*keys)


@asynccontextmanager
async def _dispatcher(url: str, prefix: str, cost: int) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a dispatcher, which has ended when the context does."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        __name__,
        prefix,
        str(cost),
        cwd=_ROOT,
        env={**os.environ, URL_VARIABLE: url},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _expect(process: asyncio.subprocess.Process, step: str) -> None:
    if process.stdout is None:
        raise OSError("the naive dispatcher has no output")
    line = await asyncio.wait_for(process.stdout.readline(), _ANSWER_S)
    if not line.startswith(step.encode()):
        raise OSError(f"the naive dispatcher did not say `{step}` but {line!r}")


def dispatch(client: Redis, prefix: str, cost: int) -> None:
    """Take one task over: reserve, then enqueue."""
    if int(client.hget(f"{prefix}:held", "slots") or 0) >= SLOTS:
        print("no slot is free", flush=True)  # noqa: T201 - it prints its steps
        return
    task = client.lpop(f"{prefix}:waiting")
    if not isinstance(task, bytes):
        print("nothing waits", flush=True)  # noqa: T201
        return
    with client.pipeline() as reservation:
        reservation.hincrby(f"{prefix}:held", "slots", 1)
        reservation.hincrby(f"{prefix}:held", "cost", cost)
        reservation.hset(f"{prefix}:attempts", task, "reserved")
        reservation.execute()
    print(f"reserved {task.decode()}", flush=True)  # noqa: T201
    sys.stdin.readline()
    client.rpush(f"{prefix}:queue", task)
    print(f"handed over {task.decode()}", flush=True)  # noqa: T201


if __name__ == "__main__":
    dispatch(Redis.from_url(os.environ[URL_VARIABLE]), sys.argv[1], int(sys.argv[2]))
