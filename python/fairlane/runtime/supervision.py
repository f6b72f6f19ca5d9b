"""Keeps a scheduler's workers at work: checks them, takes failed ones out of the store, brings them back.

The reaper in the controller stays: it takes back what nobody here has seen fail.
"""

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from fairlane.clock import Rng, system_rng
from fairlane.config.pool import HealthConfig, SupervisorConfig
from fairlane.errors import StoreError
from fairlane.lifecycle.backoff import Backoff
from fairlane.pool.errors import PoolError
from fairlane.pool.events import PoolEvent
from fairlane.pool.health import HealthChecker
from fairlane.pool.pool import Pool
from fairlane.pool.status import WorkerStatus
from fairlane.pool.supervisor import Supervisor, SupervisorEvent, SupervisorEventKind
from fairlane.runtime.worker_member import WorkerMember
from fairlane.store.store import Store

_log = logging.getLogger(__name__)


class Supervision:
    """Supervises a pool's workers while its context is entered."""

    def __init__(
        self,
        pool: Pool[WorkerMember],
        store: Store,
        health: HealthConfig,
        supervisor: SupervisorConfig,
        *,
        rng: Rng | None = None,
    ) -> None:
        self._pool = pool
        self._store = store
        self._rng = rng or system_rng()
        self._checker = HealthChecker(pool, health, rng=self._rng)
        self._supervisor = Supervisor(pool, supervisor, rng=self._rng, observer=self._see_restart)
        self._errands: set[asyncio.Task[None]] = set()
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._end_errands)
            stack.callback(self._pool.subscribe(self._see_change))
            await stack.enter_async_context(self._supervisor)
            await stack.enter_async_context(self._checker)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    def _see_change(self, event: PoolEvent) -> None:
        member = event.member
        if event.after is WorkerStatus.FAILED and isinstance(member, WorkerMember) and member.incarnation is not None:
            self._begin(self._evict(member.id, member.incarnation))

    def _see_restart(self, event: SupervisorEvent) -> None:
        if event.kind is SupervisorEventKind.GAVE_UP:
            self._begin(self._end_worker(self._pool.get(event.worker_id)))

    def _begin(self, errand: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(errand)
        self._errands.add(task)
        task.add_done_callback(self._errands.discard)

    async def _evict(self, worker_id: str, incarnation: str) -> None:
        """End this incarnation, and no later one, so that its tasks need not wait for the end of its lease."""
        backoff = Backoff(self._rng)
        tasks, more = 0, True
        while more:
            try:
                recovered = await self._store.evict(incarnation)
            except StoreError as error:
                _log.warning("worker %s: %s", worker_id, error)
                await asyncio.sleep(backoff.next_s())
                continue
            backoff.reset()
            tasks, more = tasks + recovered.tasks, recovered.more
        _log.info("worker %s: %d tasks of incarnation %s taken back", worker_id, tasks, incarnation)

    async def _end_worker(self, member: WorkerMember) -> None:
        """End one that is given up for good: Ray would go on restarting it, and it would be given tasks."""
        try:
            await member.stop()
        except PoolError as error:
            _log.warning("%s", error)

    async def _end_errands(self) -> None:
        for task in self._errands:
            task.cancel()
        await asyncio.gather(*self._errands, return_exceptions=True)
