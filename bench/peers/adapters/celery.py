"""Celery: Redis as broker and as result backend, which publishes results."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

from celery import Celery
from celery.result import AsyncResult, ResultSet

from bench.peers.adapters.work import SOCKET, Answer, Call, perform

_URL = f"redis+socket://{SOCKET}"
_WAIT_S = 120

app = Celery("bench", broker=_URL, backend=_URL)
app.conf.update(
    broker_connection_retry_on_startup=True,
    worker_prefetch_multiplier=64,
    worker_hijack_root_logger=False,
    result_expires=300,
)


@app.task(name="work")
def work(call: Call) -> Answer:
    """Do the work."""
    return perform(call)


class Client:
    """See ``driving.Client``."""

    async def open(self, stack: AsyncExitStack) -> None:
        """Open one connection for all tasks."""
        self._producer = stack.enter_context(app.connection_for_write()).Producer()

    async def submit(self, calls: Sequence[Call]) -> list[AsyncResult]:
        """Submit one by one on one connection; there is no call for many tasks."""
        return [work.apply_async((call,), producer=self._producer) for call in calls]

    async def results(self, handles: Sequence[AsyncResult]) -> list[Any]:
        """Wait for all results together."""
        if len(handles) == 1:
            return [handles[0].get(timeout=_WAIT_S)]
        return list(ResultSet(handles).join_native(timeout=_WAIT_S))
