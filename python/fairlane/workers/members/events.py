"""What a pool tells about its members, and how it reaches those who listen."""

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from fairlane.workers.members.health_report import HealthReport
from fairlane.workers.members.member import Member, WorkerInfo
from fairlane.workers.members.status import WorkerStatus

Fact = WorkerInfo | WorkerStatus | int | HealthReport
"""Before and after a change: info of UPDATED, status of STATUS, slots in use of LOAD, the report of HEALTH, a bool of
LEAVING."""


class MemberEventKind(StrEnum):
    """What has changed."""

    ADDED = "added"
    UPDATED = "updated"
    """Capacity, weight, tags or metadata."""
    STATUS = "status"
    LOAD = "load"
    HEALTH = "health"
    """A report was recorded, whether or not it differs from the one before."""
    LEAVING = "leaving"
    """Its removal has begun, or has failed and left it in the pool."""
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class MemberEvent:
    """One change of one member. The member itself may have changed further by the time that this is read."""

    kind: MemberEventKind
    member: Member
    before: Fact | None = None
    after: Fact | None = None


Observer = Callable[[MemberEvent], None]


class Observers:
    """Calls observers one after the other; all see the same order, also of changes that an observer makes itself."""

    def __init__(self, logger: logging.Logger) -> None:
        self._log = logger
        self._observers: dict[object, Observer] = {}
        self._pending: deque[MemberEvent] = deque()
        self._telling = False

    def add(self, observer: Observer) -> Callable[[], None]:
        """Call it from now on. Returns what ends that; ending it twice is no error."""
        key = object()
        self._observers[key] = observer

        def end() -> None:
            self._observers.pop(key, None)

        return end

    def tell(self, event: MemberEvent) -> None:
        """Tell all. What an observer raises is logged, and hurts nobody else."""
        self._pending.append(event)
        if self._telling:
            return
        self._telling = True
        try:
            while self._pending:
                self._tell(self._pending.popleft())
        finally:
            self._telling = False

    def _tell(self, event: MemberEvent) -> None:
        for key, observer in tuple(self._observers.items()):
            if key not in self._observers:
                continue
            try:
                observer(event)
            except Exception:
                self._log.exception("an observer of %s of worker %s failed", event.kind, event.member.id)
