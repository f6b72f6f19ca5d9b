"""Coalescing: items that are ready within one turn of the event loop go out as one call.

The next batch grows while a call is in flight. A caller that leaves never cancels a call.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_log = logging.getLogger(__name__)


class Outbox(Generic[T, R]):
    """Sends items in batches of at most ``batch``, with at most ``lanes`` calls in flight."""

    def __init__(self, name: str, send: Callable[[list[T]], Awaitable[list[R]]], *, batch: int, lanes: int = 1) -> None:
        self._name = name
        self._send = send
        self._batch = batch
        self._lanes = lanes
        self._queue: deque[tuple[list[T], asyncio.Future[list[R]]]] = deque()
        self._open_lanes = 0
        """Lanes that will look at the queue again; a lane that has seen it empty is still ``running`` for a moment."""
        self._running: set[asyncio.Task[None]] = set()

    def put(self, items: list[T]) -> asyncio.Future[list[R]]:
        """Queue at most ``batch`` items; the future brings one answer per item, or the call's error.

        Cancelling the future takes the items out of the queue if they have not been sent. If they have, the call
        continues and its answer is logged.
        """
        future: asyncio.Future[list[R]] = asyncio.get_running_loop().create_future()
        self._queue.append((items, future))
        if self._open_lanes < self._lanes:
            self._open_lanes += 1
            lane = asyncio.create_task(self._run())
            self._running.add(lane)
            lane.add_done_callback(self._running.discard)
        return future

    async def drain(self) -> None:
        """Return when nothing is queued or in flight."""
        while self._running:
            await asyncio.wait(tuple(self._running))

    async def _run(self) -> None:
        try:
            while self._queue:
                items, waiting = self._take()
                if items:
                    await self._send_batch(items, waiting)
        finally:
            self._open_lanes -= 1

    async def _send_batch(self, items: list[T], waiting: list[tuple[int, "asyncio.Future[list[R]]"]]) -> None:
        try:
            answers = await self._send(items)
        except Exception as error:
            for _, future in waiting:
                if not future.done():
                    future.set_exception(error)
                else:
                    _log.warning("%s failed after its caller left: %s", self._name, error)
            return
        at = 0
        for size, future in waiting:
            if not future.done():
                future.set_result(answers[at : at + size])
            else:
                _log.info("%s answered after its caller left: %s", self._name, answers[at : at + size])
            at += size

    def _take(self) -> tuple[list[T], list[tuple[int, "asyncio.Future[list[R]]"]]]:
        queue = self._queue
        batch: list[T] = []
        waiting: list[tuple[int, asyncio.Future[list[R]]]] = []
        while queue and (not batch or len(batch) + len(queue[0][0]) <= self._batch):
            items, future = queue.popleft()
            if future.cancelled():
                continue
            waiting.append((len(items), future))
            if batch:
                batch += items
            else:
                batch = items if len(items) == self._batch else list(items)
        return batch, waiting
