"""Starts the members of a group, and stops them at the end. Restarts are the supervisor's."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Any, Final

from fairlane.workers.errors import WorkerError, WorkerErrorCode, shown
from fairlane.workers.guards import wait_at_most
from fairlane.workers.members.events import MemberEvent, MemberEventKind
from fairlane.workers.members.group import WorkerGroup
from fairlane.workers.members.member import Member
from fairlane.workers.members.status import WorkerStatus

_STOP_S: Final = 10.0
"""How long a stop may take beyond its grace time (a guess, as is the next)."""
_CANCELLED_STOP_S: Final = 3.0
"""How long stops may take if leaving the context is cancelled."""


class Starter:
    """Async context manager: starts every member that is added in status created; on exit it stops all members.

    Starts and stops have time limits. A member that has not started in time has failed.
    """

    def __init__(
        self, group: WorkerGroup[Any], *, start_timeout_s: float, grace_s: float, logger: logging.Logger | None = None
    ) -> None:
        """On exit, running tasks have ``grace_s`` seconds to end."""
        self._group = group
        self._start_timeout_s = start_timeout_s
        self._grace_s = grace_s
        self._log = logger or logging.getLogger(__name__)
        self._starting: set[asyncio.Task[None]] = set()
        self._unsubscribe: Callable[[], None] = lambda: None

    async def __aenter__(self) -> "Starter":
        self._unsubscribe = self._group.subscribe(self._on_event)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Raises WorkerError: worker_stop_failed: a member did not stop; all others were stopped first."""
        self._unsubscribe()
        try:
            errors = await self._stop_all(self._grace_s, _STOP_S)
        except asyncio.CancelledError:
            await self._stop_all(0.0, _CANCELLED_STOP_S)
            raise
        finally:
            for starting in self._starting:
                starting.cancel()
            await asyncio.gather(*self._starting, return_exceptions=True)
        if errors:
            raise errors[0]

    async def start_all(self) -> list[WorkerError]:
        """Start all members in status created, concurrently; return the errors of those that did not start."""
        created = [member for member in self._group.list() if member.status is WorkerStatus.CREATED]
        return _errors(await asyncio.gather(*(self._start(member) for member in created)))

    async def _stop_all(self, grace_s: float, limit_s: float) -> list[WorkerError]:
        members = self._group.list()
        return _errors(await asyncio.gather(*(self._stop(member, grace_s, limit_s) for member in members)))

    def _on_event(self, event: MemberEvent) -> None:
        if event.kind is MemberEventKind.ADDED and event.member.status is WorkerStatus.CREATED:
            starting = asyncio.create_task(self._start_added(event.member))
            self._starting.add(starting)
            starting.add_done_callback(self._starting.discard)

    async def _start_added(self, member: Member) -> None:
        if member.status is WorkerStatus.CREATED:
            await self._start(member)

    async def _start(self, member: Member) -> WorkerError | None:
        """Start a member; return the error if it did not start."""
        call = asyncio.create_task(member.start(), name=f"start of {member.id}")
        if not await wait_at_most(call, self._start_timeout_s):
            late = f"did not start within {self._start_timeout_s:g} s"
            member.fail(f"it {late}")
            return _error(member, WorkerErrorCode.WORKER_START_FAILED, late)
        error = _call_error(call, member, WorkerErrorCode.WORKER_START_FAILED, "did not start")
        if error is not None and member.status is not WorkerStatus.STOPPED:  # stopped on exit: expected
            self._log.warning("%s", error)
        return error

    async def _stop(self, member: Member, grace_s: float, limit_s: float) -> WorkerError | None:
        """Stop a member; return the error if it did not stop."""
        call = asyncio.create_task(member.stop(grace_s), name=f"stop of {member.id}")
        if await wait_at_most(call, grace_s + limit_s):
            return _call_error(call, member, WorkerErrorCode.WORKER_STOP_FAILED, "did not stop")
        late = f"did not stop within {grace_s + limit_s:g} s"
        self._log.warning("worker %s %s, and is abandoned", member.id, late)
        return _error(member, WorkerErrorCode.WORKER_STOP_FAILED, late)


def _call_error(call: "asyncio.Task[None]", member: Member, code: WorkerErrorCode, text: str) -> WorkerError | None:
    """Return the error of an ended call as a WorkerError; None if the call succeeded."""
    if call.cancelled():
        return _error(member, code, f"{text}: it was cancelled")
    cause = call.exception()
    if cause is None or isinstance(cause, WorkerError):
        return cause
    error = _error(member, code, f"{text}: {shown(cause)}")
    error.__cause__ = cause
    return error


def _error(member: Member, code: WorkerErrorCode, text: str) -> WorkerError:
    return WorkerError(code, f"worker {member.id} {text}", worker=member.id)


def _errors(results: Iterable[WorkerError | None]) -> list[WorkerError]:
    return [result for result in results if result is not None]
