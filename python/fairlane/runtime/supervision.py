"""Keeps a scheduler's workers at work: checks them, takes failed ones out of the store, brings them back.

The reaper in the controller stays: it takes back what nobody here has seen fail.
"""

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Final, Self

from fairlane.clock import Rng, system_rng
from fairlane.config.workers import HealthConfig, SupervisorConfig
from fairlane.runtime.eviction import evict_lives
from fairlane.runtime.worker_member import WorkerMember
from fairlane.store.store import Store
from fairlane.workers.errors import WorkerError
from fairlane.workers.members.events import MemberEvent
from fairlane.workers.members.group import WorkerGroup
from fairlane.workers.members.health_checker import HealthChecker
from fairlane.workers.members.status import WorkerStatus
from fairlane.workers.members.supervisor import Supervisor, SupervisorEvent, SupervisorEventKind

_PATIENCE_S: Final = 5.0
"""How long the store may be away before nobody waits for an eviction."""

_log = logging.getLogger(__name__)


class Supervision:
    """Supervises a pool's workers while its context is entered."""

    def __init__(
        self,
        pool: WorkerGroup[WorkerMember],
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
        self._over = False
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

    async def take_out(self, member: WorkerMember) -> None:
        """Take a worker that has ended out of the store: its tasks run elsewhere at once.

        Returns when that is done, or after a while in which the store was away; then it goes on.
        """
        errand = self._begin_taking_out(member)
        if errand is not None:
            await asyncio.wait({errand}, timeout=_PATIENCE_S)

    def _see_change(self, event: MemberEvent) -> None:
        member = event.member
        if event.after is WorkerStatus.FAILED and isinstance(member, WorkerMember):
            self._begin_taking_out(member)

    def _see_restart(self, event: SupervisorEvent) -> None:
        if event.kind is SupervisorEventKind.GAVE_UP:
            self._begin(self._end_worker(self._pool.get(event.worker_id)))

    def _begin_taking_out(self, member: WorkerMember) -> asyncio.Task[None] | None:
        return self._begin(evict_lives(self._store, member, member.incarnation, self._rng))

    def _begin(self, errand: Coroutine[None, None, None]) -> asyncio.Task[None] | None:
        """Go about it until it is done or the context ends; None if that has ended."""
        if self._over:
            errand.close()
            return None
        task = asyncio.create_task(errand)
        self._errands.add(task)
        task.add_done_callback(self._errands.discard)
        return task

    async def _end_worker(self, member: WorkerMember) -> None:
        """End one that is given up: its last process may still run, and be given tasks."""
        try:
            await member.stop()
        except WorkerError as error:
            _log.warning("%s", error)
        await self.take_out(member)

    async def _end_errands(self) -> None:
        self._over = True
        for task in self._errands:
            task.cancel()
        await asyncio.gather(*self._errands, return_exceptions=True)
