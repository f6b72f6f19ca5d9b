"""A group of members: who belongs to it, their last health reports, and its observers.

The group does not start, check or restart its members, and gives them no tasks.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final, Generic, TypeVar

from fairlane.workers.errors import WorkerError, WorkerErrorCode, invalid, shown
from fairlane.workers.members.criteria import Criteria
from fairlane.workers.members.events import MemberEvent, MemberEventKind, Observer, Observers, Value
from fairlane.workers.members.health_report import HealthReport
from fairlane.workers.members.member import Member, WorkerInfo
from fairlane.workers.members.status import WorkerStatus
from fairlane.workers.validation import checked_seconds

M = TypeVar("M", bound=Member)

_ACCEPTS_TASKS: Final = frozenset({WorkerStatus.READY, WorkerStatus.BUSY})


class _Entry(Generic[M]):
    """A member, and the values of the last events about it."""

    def __init__(self, member: M) -> None:
        self.member = member
        self.info = member.info
        self.status = member.status
        self.load = member.load
        self.report: HealthReport | None = None
        self.removals = 0
        """Removals that have begun and have not failed."""
        self.unwatch: Callable[[], None] = lambda: None

    @property
    def leaving(self) -> bool:
        return self.removals > 0

    @property
    def healthy(self) -> bool:
        return self.report is None or self.report.healthy


class WorkerGroup(Generic[M]):
    """Members by id, in the order in which they were added. Use it in the members' event loop only."""

    def __init__(self, members: Iterable[M] = (), *, logger: logging.Logger | None = None) -> None:
        """Raises WorkerError: worker_already_exists, invalid_configuration."""
        self._entries: dict[str, _Entry[M]] = {}
        self._observers = Observers(logger or logging.getLogger(__name__))
        if not isinstance(members, Iterable):
            raise invalid("members", members, "an iterable of members")
        for member in members:
            self.add(member)

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[M]:
        return iter(self.list())

    def __contains__(self, worker_id: object) -> bool:
        return isinstance(worker_id, str) and worker_id in self._entries

    # -- membership ------------------------------------------------------------------------------------------

    def add(self, member: M) -> None:
        """Add a member, in any status. Raises WorkerError: worker_already_exists, invalid_configuration."""
        if isinstance(member, type) or not isinstance(member, Member):
            raise invalid("member", member, "a worker, or another Member")
        if member.id in self._entries:
            raise WorkerError(
                WorkerErrorCode.WORKER_ALREADY_EXISTS, f"the group already has a worker {member.id}", worker=member.id
            )
        entry = self._entries[member.id] = _Entry(member)
        entry.unwatch = member.watch(lambda _: self._emit_changes(entry))
        self._emit(MemberEventKind.ADDED, entry)

    def get(self, worker_id: str) -> M:
        """Return a member. Raises WorkerError: worker_not_found."""
        return self._entry(worker_id).member

    def list(self) -> tuple[M, ...]:
        """Return all members."""
        return tuple(entry.member for entry in self._entries.values())

    def search(self, criteria: Criteria) -> tuple[M, ...]:
        """Return the members that meet the criteria. Raises WorkerError: invalid_configuration."""
        if not isinstance(criteria, Criteria):
            raise invalid("criteria", criteria, "Criteria")
        return tuple(
            entry.member for entry in self._entries.values() if criteria.match(entry.member, healthy=entry.healthy)
        )

    def update(
        self,
        worker_id: str,
        *,
        capacity: int | None = None,
        weight: int | None = None,
        tags: Collection[str] | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> WorkerInfo:
        """Change the given fields, and return the whole info. A capacity below the load ends no running task.

        Raises:
            WorkerError: worker_not_found, invalid_configuration.
        """
        member = self.get(worker_id)
        given = {"capacity": capacity, "weight": weight, "tags": tags, "metadata": metadata}
        changes = {field: value for field, value in given.items() if value is not None}
        member.update(WorkerInfo.of(**(member.info.model_dump() | changes)))
        return member.info

    async def remove(self, worker_id: str, grace_s: float | None = None) -> None:
        """Drain a member, stop it, and forget it.

        From the start of the removal it gets no task, whatever its status becomes. Its running tasks have ``grace_s``
        seconds to end; None means no limit. A cancelled removal leaves the member draining and in the group.

        Raises:
            WorkerError: worker_not_found; invalid_configuration; worker_stop_failed: it was forgotten all the same.
                After any other exception of the member it stays in the group, and gets tasks again if it is ready.
        """
        entry = self._entry(worker_id)
        limit_s = 0.0 if grace_s is None else checked_seconds("grace_s", grace_s)
        self._count_removals(entry, 1)
        try:
            if grace_s is None:
                await entry.member.drain()
            while entry.member.status is not WorkerStatus.STOPPED:  # another caller may have restarted it
                await entry.member.stop(limit_s)
        except Exception as error:
            if isinstance(error, WorkerError) and error.code is WorkerErrorCode.WORKER_STOP_FAILED:
                self._forget(entry)
            else:
                self._count_removals(entry, -1)
            raise
        self._forget(entry)

    # -- state -----------------------------------------------------------------------------------------------

    def record(self, report: HealthReport) -> None:
        """Keep the last report on a member. A report on a member that has left is dropped.

        Raises WorkerError: invalid_configuration.
        """
        if not isinstance(report, HealthReport):
            raise invalid("report", report, "a HealthReport")
        entry = self._entries.get(report.worker_id)
        if entry is not None:
            before, entry.report = entry.report, report
            self._emit(MemberEventKind.HEALTH, entry, before, report)

    def report(self, worker_id: str) -> HealthReport | None:
        """Return the last report since the member's last start; None before the first.

        An unhealthy report outlives the start: the member gets no task until checks find it healthy.
        Raises WorkerError: worker_not_found.
        """
        return self._entry(worker_id).report

    def leaving(self, worker_id: str) -> bool:
        """Return whether the member's removal has begun. Raises WorkerError: worker_not_found."""
        return self._entry(worker_id).leaving

    def accepts_tasks(self, worker_id: str) -> bool:
        """Return whether the member may get tasks, now or once a slot is free: at work, healthy and not leaving.

        Raises WorkerError: worker_not_found.
        """
        entry = self._entry(worker_id)
        return entry.member.status in _ACCEPTS_TASKS and entry.healthy and not entry.leaving

    def subscribe(self, observer: Observer) -> Callable[[], None]:
        """Call back after every change, in order. Returns a function that unsubscribes.

        Raises WorkerError: invalid_configuration.
        """
        if not callable(observer):
            raise invalid("observer", observer, "callable")
        return self._observers.add(observer)

    # -- internal --------------------------------------------------------------------------------------------

    def _entry(self, worker_id: str) -> _Entry[M]:
        if worker_id not in self:
            name = shown(worker_id)[:200]
            raise WorkerError(WorkerErrorCode.WORKER_NOT_FOUND, f"the group has no worker {name}", worker=worker_id)
        return self._entries[worker_id]

    def _emit_changes(self, entry: _Entry[M]) -> None:
        """Emit events for what has changed since the last ones."""
        member = entry.member
        info, entry.info = entry.info, member.info
        status, entry.status = entry.status, member.status
        load, entry.load = entry.load, member.load
        if info is not entry.info:
            self._emit(MemberEventKind.UPDATED, entry, info, entry.info)
        if status is not entry.status:
            if entry.status is WorkerStatus.STARTING and entry.healthy:
                entry.report = None
            self._emit(MemberEventKind.STATUS, entry, status, entry.status)
        if load != entry.load:
            self._emit(MemberEventKind.LOAD, entry, load, entry.load)

    def _count_removals(self, entry: _Entry[M], by: int) -> None:
        before, entry.removals = entry.leaving, entry.removals + by
        if entry.leaving is not before:
            self._emit(MemberEventKind.LEAVING, entry, before, entry.leaving)

    def _forget(self, entry: _Entry[M]) -> None:
        member = entry.member
        if self._entries.get(member.id) is entry:
            del self._entries[member.id]
            entry.unwatch()
            self._emit(MemberEventKind.REMOVED, entry)

    def _emit(
        self, kind: MemberEventKind, entry: _Entry[M], before: Value | None = None, after: Value | None = None
    ) -> None:
        self._observers.notify(MemberEvent(kind, entry.member, before, after))
