"""A task for each member of a pool that needs care, from when it does until it does not, or leaves.

Owns those tasks, and the calls they make to members, which cannot hold anything up for longer than allowed. What is
done for a member is up to the subclass.
"""

import asyncio
import contextvars
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from typing import Any, Self, TypeVar

from fairlane.workers.bounded import bounded
from fairlane.workers.errors import invalid
from fairlane.workers.members.events import MemberEvent, MemberEventKind
from fairlane.workers.members.group import WorkerGroup
from fairlane.workers.members.member import Member
from fairlane.workers.once import Once

T = TypeVar("T")


class MemberMonitor(ABC):
    """Cares while its context is entered, which it is once. One member's care waits for no other's."""

    def __init__(self, pool: WorkerGroup[Any], *, patience_s: float, logger: logging.Logger) -> None:
        """At its end it waits ``patience_s`` seconds for calls to members to take note of their cancellation.

        Raises WorkerError: invalid_configuration.
        """
        if not isinstance(pool, WorkerGroup):
            raise invalid("pool", pool, "a WorkerGroup")
        self._pool = pool
        self._patience_s = patience_s
        self._log = logger
        self._once = Once(type(self).__name__)
        self._active = False
        self._context = contextvars.copy_context()
        self._tasks: dict[Member, asyncio.Task[None]] = {}
        self._calls: dict[Member, asyncio.Task[Any]] = {}
        self._unsubscribe: Callable[[], None] = lambda: None

    # -- what the subclass writes ----------------------------------------------------------------------------

    @abstractmethod
    def _needs_care(self, member: Member) -> bool:
        """Say whether it does now; asked again after each change of its status, and when it begins to leave."""

    @abstractmethod
    async def _care(self, member: Member) -> None:
        """Care for one member; cancelled when it needs none any more. If it returns, it has nothing left to do."""

    # -- its span --------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        """Raises WorkerError: illegal_transition, if it was entered before."""
        self._once.begin()
        self._active = True
        self._context = contextvars.copy_context()
        self._unsubscribe = self._pool.subscribe(self._see)
        for member in self._pool.list():
            self._settle(member)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._active = False
        self._unsubscribe()
        tasks = list(self._tasks.values())
        for member in list(self._tasks):
            self._end_care(member)
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._calls:
            await asyncio.wait(self._calls.values(), timeout=self._patience_s)
            if open_calls := [call for call in self._calls.values() if not call.done()]:
                names = ", ".join(sorted(call.get_name() for call in open_calls))
                self._log.warning("left alone, since they ignore their cancellation: %s", names)

    # -- calls to members ------------------------------------------------------------------------------------

    async def _call(self, member: Member, call: Coroutine[Any, Any, T], timeout_s: float) -> asyncio.Task[T]:
        """Make a call that nobody else makes to the member now, and return it, ended or not.

        When its time is up, or its caller is cancelled, it is cancelled, and not waited for.
        """
        task = asyncio.create_task(call, name=f"{type(self).__name__} of {member.id}")
        self._calls[member] = task
        task.add_done_callback(lambda _: self._calls.pop(member))
        await bounded(task, timeout_s)
        return task

    async def _quiet(self, member: Member, timeout_s: float | None = None) -> bool:
        """Wait until no call to the member goes on, but no longer than allowed; say whether none does."""
        if member in self._calls:
            await asyncio.wait({self._calls[member]}, timeout=timeout_s)
        return member not in self._calls

    # -- members that come, change and go --------------------------------------------------------------------

    def _see(self, event: MemberEvent) -> None:
        if event.kind is MemberEventKind.REMOVED:
            self._end_care(event.member)
        elif event.kind in {MemberEventKind.ADDED, MemberEventKind.STATUS, MemberEventKind.LEAVING}:
            self._settle(event.member)

    def _settle(self, member: Member) -> None:
        """Begin or end its care, by its status now; that in an event may be out of date."""
        if not self._needs_care(member):
            self._end_care(member)
        elif member not in self._tasks:
            # The change may be seen in the midst of anybody's trace; the care is part of none of them.
            name = f"{type(self).__name__} of {member.id}"
            task = asyncio.create_task(self._care(member), name=name, context=self._context.copy())
            task.add_done_callback(self._ended)
            self._tasks[member] = task

    def _end_care(self, member: Member) -> None:
        """End it because the member needs none now, has left the pool, or everything ends."""
        task = self._tasks.pop(member, None)
        if task is not None:
            task.cancel()

    def _ended(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._log.error("%s ended", task.get_name(), exc_info=error)
