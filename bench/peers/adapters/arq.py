"""arq: a coroutine for each job, on uvloop. Its worker and its clients poll; both are set to poll often."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

import uvloop
from arq import create_pool
from arq.connections import ArqRedis, RedisSettings
from arq.jobs import Job

from bench.peers.adapters.work import SOCKET, Answer, Call, perform

_REDIS = RedisSettings(unix_socket_path=SOCKET)
_WINDOW = 200
_POLL_S = 0.002


async def work(context: dict[str, Any], call: Call) -> Answer:
    """Do the work."""
    del context
    return perform(call)


LOGGING = {"version": 1, "disable_existing_loggers": True}
"""Without it, ``arq`` logs two lines for each job."""


class WorkerSettings:
    """For ``arq``."""

    asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
    functions = (work,)
    redis_settings = _REDIS
    max_jobs = 256
    poll_delay = 0.005
    keep_result = 300


class Client:
    """See ``driving.Client``."""

    async def open(self, stack: AsyncExitStack) -> None:
        """Connect."""
        self._redis: ArqRedis = await create_pool(_REDIS)
        stack.push_async_callback(self._redis.aclose)

    async def submit(self, calls: Sequence[Call]) -> list[Job]:
        """Submit; there is no call for many jobs, so many calls are under way at once."""
        jobs: list[Job] = []
        for first in range(0, len(calls), _WINDOW):
            some = calls[first : first + _WINDOW]
            jobs += await asyncio.gather(*(self._redis.enqueue_job("work", call) for call in some))
        return jobs

    async def results(self, handles: Sequence[Job]) -> list[Any]:
        """Poll a window of jobs at a time: to poll for all at once costs more."""
        found: list[Any] = []
        for first in range(0, len(handles), _WINDOW):
            some = handles[first : first + _WINDOW]
            found += await asyncio.gather(*(job.result(poll_delay=_POLL_S) for job in some))
        return found
