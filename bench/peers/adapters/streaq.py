"""streaQ on uvloop: tasks are submitted in pipelines, each result arrives by a subscription of its own."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

from streaq import Worker
from streaq.task import Task

from bench.peers.adapters.work import SOCKET, Answer, Call, perform

_CHUNK = 1_000
_AT_ONCE = 500
"""A result costs two connections and about 0.1 s, most of it the end of its subscription."""

worker = Worker(
    redis_url=f"unix://{SOCKET}",
    redis_kwargs={"max_connections": 2 * _AT_ONCE + 100},
    concurrency=256,
    anyio_kwargs={"use_uvloop": True},
)


@worker.task(ttl=300, silent=True)
async def work(call: Call) -> Answer:
    """Do the work."""
    return perform(call)


class Client:
    """See ``driving.Client``."""

    async def open(self, stack: AsyncExitStack) -> None:
        """Connect."""
        self._places = asyncio.Semaphore(_AT_ONCE)
        await stack.enter_async_context(worker)

    async def submit(self, calls: Sequence[Call]) -> list[Task[Any, Answer]]:
        """Submit in pipelines."""
        tasks = [work.enqueue(call) for call in calls]
        for first in range(0, len(tasks), _CHUNK):
            await worker.enqueue_many(tasks[first : first + _CHUNK])
        return tasks

    async def results(self, handles: Sequence[Task[Any, Answer]]) -> list[Any]:
        """Wait for many results at once."""
        return await asyncio.gather(*(self._result(task) for task in handles))

    async def _result(self, task: Task[Any, Answer]) -> Answer:
        async with self._places:
            return (await task.result(120)).result
