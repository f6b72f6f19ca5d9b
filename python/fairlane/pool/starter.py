"""Starts the members of a pool and stops them. What becomes of those that fail in between is the supervisor's."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from fairlane.pool.events import PoolEvent, PoolEventKind
from fairlane.pool.pool import Pool
from fairlane.pool.status import WorkerStatus
from fairlane.pool.worker import Member


class Starter:
    """While its context is entered it starts every member that joins in status created; at its end it stops all."""

    def __init__(self, pool: Pool[Any], *, grace_s: float, logger: logging.Logger | None = None) -> None:
        """``grace_s``: how long running tasks may go on at the end."""
        self._pool = pool
        self._grace_s = grace_s
        self._log = logger or logging.getLogger(__name__)
        self._starting: set[asyncio.Task[None]] = set()
        self._unsubscribe: Callable[[], None] = lambda: None

    async def __aenter__(self) -> "Starter":
        self._unsubscribe = self._pool.subscribe(self._see)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Raises PoolError: worker_stop_failed for one that did not stop, after all have tried."""
        self._unsubscribe()
        for starting in self._starting:
            starting.cancel()
        try:
            await asyncio.gather(*self._starting, return_exceptions=True)
            errors = await self._stop_all(self._grace_s)
        except asyncio.CancelledError:
            await self._stop_all(0.0)
            raise
        if errors:
            raise errors[0]

    async def start_all(self) -> list[Exception]:
        """Start those that are only created, all at once; return why some did not start."""
        created = [member for member in self._pool.list() if member.status is WorkerStatus.CREATED]
        return _errors(await asyncio.gather(*(member.start() for member in created), return_exceptions=True))

    async def _stop_all(self, grace_s: float) -> list[Exception]:
        stops = (member.stop(grace_s) for member in self._pool.list())
        return _errors(await asyncio.gather(*stops, return_exceptions=True))

    def _see(self, event: PoolEvent) -> None:
        if event.kind is PoolEventKind.ADDED and event.member.status is WorkerStatus.CREATED:
            starting = asyncio.create_task(self._start(event.member))
            self._starting.add(starting)
            starting.add_done_callback(self._starting.discard)

    async def _start(self, member: Member) -> None:
        if member.status is WorkerStatus.CREATED:
            try:
                await member.start()
            except Exception as error:
                self._log.warning("worker %s was added, and did not start: %s", member.id, error)


def _errors(results: list[object]) -> list[Exception]:
    return [result for result in results if isinstance(result, Exception)]
