"""taskiq with taskiq-redis: the stream broker, which acknowledges tasks, and results that are removed once read."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any, cast

from taskiq import AsyncTaskiqTask
from taskiq_redis import RedisAsyncResultBackend, RedisStreamBroker

from bench.peers.adapters.work import SOCKET, Call, perform

_URL = f"unix://{SOCKET}"
_WINDOW = 200
_POLL_S = 0.002

broker = RedisStreamBroker(_URL, maxlen=100_000).with_result_backend(
    RedisAsyncResultBackend(_URL, keep_results=False, result_ex_time=300)
)


@broker.task(task_name="work")
async def work(call: dict[str, Any]) -> dict[str, Any]:
    """Do the work. Its types are plain: taskiq converts to them at run time."""
    return {**perform(cast("Call", call))}


class Client:
    """See ``driving.Client``."""

    async def open(self, stack: AsyncExitStack) -> None:
        """Connect, and make the consumer group."""
        await broker.startup()
        stack.push_async_callback(broker.shutdown)

    async def submit(self, calls: Sequence[Call]) -> list[AsyncTaskiqTask[Any]]:
        """Submit; there is no call for many tasks, so many calls are under way at once."""
        tasks: list[AsyncTaskiqTask[Any]] = []
        for first in range(0, len(calls), _WINDOW):
            tasks += await asyncio.gather(*(work.kiq(call) for call in calls[first : first + _WINDOW]))
        return tasks

    async def results(self, handles: Sequence[AsyncTaskiqTask[Any]]) -> list[Any]:
        """Poll a window of tasks at a time: to poll for all at once costs more."""
        found: list[Any] = []
        for first in range(0, len(handles), _WINDOW):
            some = handles[first : first + _WINDOW]
            found += await asyncio.gather(*(task.wait_result(check_interval=_POLL_S) for task in some))
        return [result.return_value for result in found]
