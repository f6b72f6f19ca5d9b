"""streaQ on uvloop: tasks are submitted in pipelines, and the newest results are polled together.

``Task.result`` would open a subscription for each task, which takes 0.1 s.
"""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

from streaq import TaskStatus, Worker
from streaq.task import Task

from bench.peers.adapters.work import SOCKET, Answer, Call, perform

_CHUNK = 1_000
_NEWEST = 500
_POLL_S = 0.002
_POLL_MANY_S = 0.02

worker = Worker(redis_url=f"unix://{SOCKET}", concurrency=256, anyio_kwargs={"use_uvloop": True})


@worker.task(ttl=300, silent=True)
async def work(call: Call) -> Answer:
    """Do the work."""
    return perform(call)


class Client:
    """See ``driving.Client``."""

    async def open(self, stack: AsyncExitStack) -> None:
        """Connect."""
        await stack.enter_async_context(worker)

    async def submit(self, calls: Sequence[Call]) -> list[Task[Any, Answer]]:
        """Submit in pipelines."""
        tasks = [work.enqueue(call) for call in calls]
        for first in range(0, len(tasks), _CHUNK):
            await worker.enqueue_many(tasks[first : first + _CHUNK])
        return tasks

    async def results(self, handles: Sequence[Task[Any, Answer]]) -> list[Any]:
        """Poll the newest results, and all of them when that brings nothing new."""
        missing = {task.id for task in handles}
        found: dict[str, Answer] = {}
        limit = newest = min(len(handles), _NEWEST)
        while missing:
            ended = await worker.get_tasks_by_status(TaskStatus.DONE, limit=limit)
            new = {each.task_id: each.result for each in ended if each.task_id in missing}
            found |= new
            missing -= new.keys()
            limit = newest if new or newest == 1 else len(handles) + _NEWEST
            if missing:
                await asyncio.sleep(_POLL_S if newest == 1 else _POLL_MANY_S)
        return [found[task.id] for task in handles]
