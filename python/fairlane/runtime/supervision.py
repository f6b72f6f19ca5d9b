"""Keeps a scheduler's actors at work: checks them, starts failed ones again, and evicts failed workers from the store.

An eviction only hastens the reaper in the controller, which takes back the tasks of any worker that nobody saw fail.
"""

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Final, Self

from fairlane.backoff import StoreRetry
from fairlane.clock import Rng, system_rng
from fairlane.config.workers import HealthConfig, SupervisorConfig
from fairlane.domain.policy import WorkerState
from fairlane.runtime.actor_member import ActorMember
from fairlane.store.store import Store
from fairlane.workers.errors import WorkerError
from fairlane.workers.members.events import MemberEvent
from fairlane.workers.members.group import WorkerGroup
from fairlane.workers.members.health_checker import HealthChecker
from fairlane.workers.members.status import WorkerStatus
from fairlane.workers.members.supervisor import Supervisor, SupervisorEvent, SupervisorEventKind

_PATIENCE_S: Final = 5.0
"""How long `evict` waits for a store that is away."""
_NOT_RUNNING: Final = frozenset({WorkerStatus.FAILED, WorkerStatus.STOPPED})
"""It has no process that works, and none is being made."""

_log = logging.getLogger(__name__)


class Supervision:
    """Supervises the members of a group. Async context manager; use it once."""

    def __init__(
        self,
        group: WorkerGroup[ActorMember],
        store: Store,
        health: HealthConfig,
        supervisor: SupervisorConfig,
        *,
        rng: Rng | None = None,
    ) -> None:
        self._group = group
        self._store = store
        self._rng = rng or system_rng()
        self._checker = HealthChecker(group, health, rng=self._rng)
        self._supervisor = Supervisor(group, supervisor, rng=self._rng, observer=self._on_restart)
        self._jobs: set[asyncio.Task[None]] = set()
        self._closed = False
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._cancel_jobs)
            stack.callback(self._group.subscribe(self._on_change))
            await stack.enter_async_context(self._supervisor)
            await stack.enter_async_context(self._checker)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def evict(self, member: ActorMember) -> None:
        """Take a worker that has ended out of the store, so that its tasks run elsewhere at once.

        Returns when that is done, or when the store has been away for a while; then it continues in the background.
        """
        job = self._evict_in_background(member)
        if job is not None:
            await asyncio.wait({job}, timeout=_PATIENCE_S)

    def _on_change(self, event: MemberEvent) -> None:
        member = event.member
        if event.after is WorkerStatus.FAILED and isinstance(member, ActorMember):
            self._evict_in_background(member)

    def _on_restart(self, event: SupervisorEvent) -> None:
        if event.kind is SupervisorEventKind.GAVE_UP:
            self._begin(self._end_member(self._group.get(event.worker_id)))

    def _evict_in_background(self, member: ActorMember) -> asyncio.Task[None] | None:
        if member.store_name is None:
            return None
        return self._begin(evict_incarnations(self._store, member, member.incarnation, self._rng))

    def _begin(self, job: Coroutine[None, None, None]) -> asyncio.Task[None] | None:
        """Run a job until it is done or the context ends; None if it has ended."""
        if self._closed:
            job.close()
            return None
        task = asyncio.create_task(job)
        self._jobs.add(task)
        task.add_done_callback(self._jobs.discard)
        return task

    async def _end_member(self, member: ActorMember) -> None:
        """End a member that the supervisor has given up: its last process may still run, and get tasks."""
        try:
            await member.stop()
        except WorkerError as error:
            _log.warning("%s", error)
        await self.evict(member)

    async def _cancel_jobs(self) -> None:
        self._closed = True
        for task in self._jobs:
            task.cancel()
        await asyncio.gather(*self._jobs, return_exceptions=True)


async def evict_incarnations(store: Store, member: ActorMember, incarnation: str | None, rng: Rng) -> None:
    """Evict this incarnation, and all others of a worker that has ended; try until the store has answered.

    A process that ended before its member knew its incarnation may have registered all the same. A successor is never
    evicted: the store is asked for incarnations while none is being made, and those are older than the next one.
    """
    retry = StoreRetry(f"worker {member.id}", _log, rng)
    if incarnation is not None:
        await _evict(store, member.id, incarnation, retry)

    async def evict_others() -> None:
        views = await store.workers()
        if member.status in _NOT_RUNNING:
            for view in views:
                if view.name == member.store_name and view.state is not WorkerState.LOST:
                    await _evict(store, member.id, view.incarnation, retry)

    while member.status in _NOT_RUNNING and not await retry.attempt(evict_others):
        pass


async def _evict(store: Store, worker_id: str, incarnation: str, retry: StoreRetry) -> None:
    tasks, more = 0, True

    async def evict_some() -> None:
        nonlocal tasks, more
        recovered = await store.evict(incarnation)
        tasks, more = tasks + recovered.tasks, recovered.more

    while more:
        await retry.attempt(evict_some)
    _log.info("worker %s: %d tasks of incarnation %s taken back", worker_id, tasks, incarnation)
