"""Runs one asyncio task for each member that a subclass wants to monitor, such as a health checker or a supervisor.

Owns those tasks and the calls they make to members. A member that does not return delays neither.
"""

import asyncio
import contextvars
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from typing import Any, Self, TypeVar

from fairlane.workers.errors import invalid
from fairlane.workers.guards import SingleUse, wait_at_most
from fairlane.workers.members.events import MemberEvent, MemberEventKind
from fairlane.workers.members.group import WorkerGroup
from fairlane.workers.members.member import Member

T = TypeVar("T")


class MemberMonitor(ABC):
    """Async context manager; use it once. Members are monitored independently of each other."""

    def __init__(self, group: WorkerGroup[Any], *, cancel_wait_s: float, logger: logging.Logger) -> None:
        """On exit, open calls to members are cancelled, and have ``cancel_wait_s`` seconds to end.

        Raises WorkerError: invalid_configuration.
        """
        if not isinstance(group, WorkerGroup):
            raise invalid("group", group, "a WorkerGroup")
        self._group = group
        self._cancel_wait_s = cancel_wait_s
        self._log = logger
        self._single_use = SingleUse(type(self).__name__)
        self._active = False
        self._context = contextvars.copy_context()
        self._tasks: dict[Member, asyncio.Task[None]] = {}
        self._calls: dict[Member, asyncio.Task[Any]] = {}
        self._unsubscribe: Callable[[], None] = lambda: None

    # -- what the subclass writes ----------------------------------------------------------------------------

    @abstractmethod
    def _should_monitor(self, member: Member) -> bool:
        """Return whether the member needs a task now. Called after each change of its status and of leaving."""

    @abstractmethod
    async def _monitor(self, member: Member) -> None:
        """Monitor one member. Cancelled when the member needs no monitoring; may return earlier."""

    # -- entering and leaving --------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        """Raises WorkerError: illegal_transition: it was entered before."""
        self._single_use.begin()
        self._active = True
        self._context = contextvars.copy_context()
        self._unsubscribe = self._group.subscribe(self._on_event)
        for member in self._group.list():
            self._reconcile(member)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._active = False
        self._unsubscribe()
        tasks = list(self._tasks.values())
        for member in list(self._tasks):
            self._stop_monitoring(member)
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._calls:
            await asyncio.wait(self._calls.values(), timeout=self._cancel_wait_s)
            if open_calls := [call for call in self._calls.values() if not call.done()]:
                names = ", ".join(sorted(call.get_name() for call in open_calls))
                self._log.warning("abandoned calls that ignore their cancellation: %s", names)

    # -- calls to members ------------------------------------------------------------------------------------

    async def _call(self, member: Member, call: Coroutine[Any, Any, T], timeout_s: float) -> asyncio.Task[T]:
        """Make the only open call to a member, and return its task, which may not have ended.

        After ``timeout_s``, or if the caller is cancelled, the call is cancelled and left to itself.
        """
        task = asyncio.create_task(call, name=f"{type(self).__name__} of {member.id}")
        self._calls[member] = task
        task.add_done_callback(lambda _: self._calls.pop(member))
        await wait_at_most(task, timeout_s)
        return task

    async def _call_ended(self, member: Member, timeout_s: float | None = None) -> bool:
        """Wait for the open call to a member, if any; return whether it has ended."""
        if member in self._calls:
            await asyncio.wait({self._calls[member]}, timeout=timeout_s)
        return member not in self._calls

    # -- members that come, change and go --------------------------------------------------------------------

    def _on_event(self, event: MemberEvent) -> None:
        if event.kind is MemberEventKind.REMOVED:
            self._stop_monitoring(event.member)
        elif event.kind in {MemberEventKind.ADDED, MemberEventKind.STATUS, MemberEventKind.LEAVING}:
            self._reconcile(event.member)

    def _reconcile(self, member: Member) -> None:
        """Start or stop the member's task by its present status; the one in the event may be out of date."""
        if not self._should_monitor(member):
            self._stop_monitoring(member)
        elif member not in self._tasks:
            # An event may arrive inside any caller's trace. The task must not become part of that trace.
            name = f"{type(self).__name__} of {member.id}"
            task = asyncio.create_task(self._monitor(member), name=name, context=self._context.copy())
            task.add_done_callback(self._log_error)
            self._tasks[member] = task

    def _stop_monitoring(self, member: Member) -> None:
        """Cancel the member's task, because of its status, its removal, or the end of the monitor."""
        task = self._tasks.pop(member, None)
        if task is not None:
            task.cancel()

    def _log_error(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._log.error("%s failed", task.get_name(), exc_info=error)
