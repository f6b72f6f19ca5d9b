"""The members, what is known of each, and who is told. Who starts them, checks them or gives them tasks is outside."""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final, Generic, TypeVar

from fairlane.workers.errors import WorkerError, WorkerErrorCode, invalid, shown
from fairlane.workers.executor.criteria import Criteria
from fairlane.workers.members.events import Fact, MemberEvent, MemberEventKind, Observer, Observers
from fairlane.workers.members.health_report import HealthReport
from fairlane.workers.members.member import Member, WorkerInfo
from fairlane.workers.members.status import WorkerStatus
from fairlane.workers.strategies.base import Candidate
from fairlane.workers.validation import checked_seconds

M = TypeVar("M", bound=Member)

_TAKES_TASKS: Final = frozenset({WorkerStatus.READY, WorkerStatus.BUSY})


class _Entry(Generic[M]):
    """A member, and what of it was last told."""

    def __init__(self, member: M) -> None:
        self.member = member
        self.info = member.info
        self.status = member.status
        self.load = member.load
        self.report: HealthReport | None = None
        self.removals = 0
        """How many have begun and have not failed."""
        self.end_watching: Callable[[], None] = lambda: None

    @property
    def leaving(self) -> bool:
        return self.removals > 0


class WorkerGroup(Generic[M]):
    """Members by id, in the order in which they came. All methods belong to the members' event loop."""

    def __init__(self, members: Iterable[M] = (), *, logger: logging.Logger | None = None) -> None:
        """Raises WorkerError: worker_already_exists, invalid_configuration."""
        self._entries: dict[str, _Entry[M]] = {}
        self._observers = Observers(logger or logging.getLogger(__name__))
        if not isinstance(members, Iterable):
            raise invalid("members", members, "some members")
        for member in members:
            self.add(member)

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[M]:
        return iter(self.list())

    def __contains__(self, worker_id: object) -> bool:
        return isinstance(worker_id, str) and worker_id in self._entries

    # -- who is there ----------------------------------------------------------------------------------------

    def add(self, member: M) -> None:
        """Take in a member, in whatever status. Raises WorkerError: worker_already_exists, invalid_configuration."""
        if isinstance(member, type) or not isinstance(member, Member):
            raise invalid("member", member, "a worker, or another Member")
        if member.id in self._entries:
            raise WorkerError(
                WorkerErrorCode.WORKER_ALREADY_EXISTS, f"the pool already has a worker {member.id}", worker=member.id
            )
        entry = self._entries[member.id] = _Entry(member)
        entry.end_watching = member.watch(lambda _: self._notice(entry))
        self._tell(MemberEventKind.ADDED, entry)

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
            entry.member for entry in self._entries.values() if criteria.match(entry.member, well=_is_well(entry))
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
        """Change what is given, and return all of it. Less capacity than load ends nothing that runs.

        Raises:
            WorkerError: worker_not_found, invalid_configuration.
        """
        member = self.get(worker_id)
        asked = {"capacity": capacity, "weight": weight, "tags": tags, "metadata": metadata}
        changes = {field: value for field, value in asked.items() if value is not None}
        member.update(WorkerInfo.of(**(member.info.model_dump() | changes)))
        return member.info

    async def remove(self, worker_id: str, grace_s: float | None = None) -> None:
        """Drain a member, stop it, and forget it.

        It takes no task from now on, whatever becomes of it. What it runs may go on for ``grace_s`` seconds, or to
        its end if that is None. A cancelled removal leaves the member draining and in the pool.

        Raises:
            WorkerError: worker_not_found; invalid_configuration; worker_stop_failed, and it is forgotten all the same.
                Whatever else a member raises leaves it in the pool, and it may take tasks again if it is ready.
        """
        entry = self._entry(worker_id)
        limit_s = 0.0 if grace_s is None else checked_seconds("grace_s", grace_s)
        self._count_removals(entry, 1)
        try:
            if grace_s is None:
                await entry.member.drain()
            while entry.member.status is not WorkerStatus.STOPPED:  # somebody may have started it again meanwhile
                await entry.member.stop(limit_s)
        except Exception as error:
            if isinstance(error, WorkerError) and error.code is WorkerErrorCode.WORKER_STOP_FAILED:
                self._forget(entry)
            else:
                self._count_removals(entry, -1)
            raise
        self._forget(entry)

    # -- what is known ---------------------------------------------------------------------------------------

    def record(self, report: HealthReport) -> None:
        """Keep the last report on a member. One on a member that has left is dropped.

        Raises WorkerError: invalid_configuration.
        """
        if not isinstance(report, HealthReport):
            raise invalid("report", report, "a HealthReport")
        entry = self._entries.get(report.worker_id)
        if entry is not None:
            before, entry.report = entry.report, report
            self._tell(MemberEventKind.HEALTH, entry, before, report)

    def report(self, worker_id: str) -> HealthReport | None:
        """Return the last report since the member was last started; None before the first.

        One that says that it is not well outlives the start: it gets no task before checks say otherwise.
        Raises WorkerError: worker_not_found.
        """
        return self._entry(worker_id).report

    def leaving(self, worker_id: str) -> bool:
        """Say whether its removal has begun, so that it gets no task whatever becomes of it.

        Raises WorkerError: worker_not_found.
        """
        return self._entry(worker_id).leaving

    def available(self, member: M) -> bool:
        """Say whether a member of this pool can be given a task now."""
        entry = self._entry(member.id)
        return member.status is WorkerStatus.READY and _may_take(entry)

    def candidate(self, member: M) -> Candidate:
        """Return a member of this pool as a strategy sees it."""
        entry = self._entry(member.id)
        info, metrics = member.info, member.metrics
        return Candidate(
            id=info.id,
            capacity=info.capacity,
            load=member.load,
            ready=member.status in _TAKES_TASKS and _may_take(entry),
            weight=info.weight,
            latency_s=metrics.latency_s,
            error_rate=metrics.error_rate,
            ended=metrics.successes + metrics.failures,
        )

    def subscribe(self, observer: Observer) -> Callable[[], None]:
        """Call back after every change, in order. Returns what ends it. Raises WorkerError: invalid_configuration."""
        if not callable(observer):
            raise invalid("observer", observer, "callable")
        return self._observers.add(observer)

    # -- inside ----------------------------------------------------------------------------------------------

    def _entry(self, worker_id: str) -> _Entry[M]:
        if worker_id not in self:
            name = shown(worker_id)[:200]
            raise WorkerError(WorkerErrorCode.WORKER_NOT_FOUND, f"the pool has no worker {name}", worker=worker_id)
        return self._entries[worker_id]

    def _notice(self, entry: _Entry[M]) -> None:
        """Tell what has changed since the last time."""
        member = entry.member
        info, entry.info = entry.info, member.info
        status, entry.status = entry.status, member.status
        load, entry.load = entry.load, member.load
        if info is not entry.info:
            self._tell(MemberEventKind.UPDATED, entry, info, entry.info)
        if status is not entry.status:
            if entry.status is WorkerStatus.STARTING and _is_well(entry):
                entry.report = None
            self._tell(MemberEventKind.STATUS, entry, status, entry.status)
        if load != entry.load:
            self._tell(MemberEventKind.LOAD, entry, load, entry.load)

    def _count_removals(self, entry: _Entry[M], by: int) -> None:
        before, entry.removals = entry.leaving, entry.removals + by
        if entry.leaving is not before:
            self._tell(MemberEventKind.LEAVING, entry, before, entry.leaving)

    def _forget(self, entry: _Entry[M]) -> None:
        member = entry.member
        if self._entries.get(member.id) is entry:
            del self._entries[member.id]
            entry.end_watching()
            self._tell(MemberEventKind.REMOVED, entry)

    def _tell(
        self, kind: MemberEventKind, entry: _Entry[M], before: Fact | None = None, after: Fact | None = None
    ) -> None:
        self._observers.tell(MemberEvent(kind, entry.member, before, after))


def _is_well(entry: _Entry[M]) -> bool:
    return entry.report is None or entry.report.well


def _may_take(entry: _Entry[M]) -> bool:
    return not entry.leaving and _is_well(entry)
