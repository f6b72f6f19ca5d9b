"""dramatiq: worker threads, and the Redis result backend, on which a client can block."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

import dramatiq
from dramatiq.brokers.redis import RedisBroker
from dramatiq.results import Results
from dramatiq.results.backends import RedisBackend

from bench.peers.adapters.work import SOCKET, Answer, Call, perform

_URL = f"unix://{SOCKET}"
_WAIT_MS = 120_000

broker = RedisBroker(url=_URL)
broker.add_middleware(Results(backend=RedisBackend(url=_URL), result_ttl=300_000))
dramatiq.set_broker(broker)


@dramatiq.actor(store_results=True)
def work(call: Call) -> Answer:
    """Do the work."""
    return perform(call)


class Client:
    """See ``driving.Client``."""

    async def open(self, stack: AsyncExitStack) -> None:
        """Connect at the first call, as the broker does."""
        stack.callback(broker.close)

    async def submit(self, calls: Sequence[Call]) -> list[Any]:
        """Submit as a group."""
        return list(dramatiq.group([work.message(call) for call in calls]).run().children)

    async def results(self, handles: Sequence[Any]) -> list[Any]:
        """Block on one result after the other."""
        return list(dramatiq.group(handles).get_results(block=True, timeout=_WAIT_MS))
