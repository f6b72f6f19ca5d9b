"""Events about the members of a group, and their delivery to observers."""

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from fairlane.workers.members.health_report import HealthReport
from fairlane.workers.members.member import Member, WorkerInfo
from fairlane.workers.members.status import WorkerStatus

Value = WorkerInfo | WorkerStatus | int | HealthReport
"""What changed: the info (UPDATED), status (STATUS), slots in use (LOAD), report (HEALTH) or a bool (LEAVING)."""


class MemberEventKind(StrEnum):
    """The kinds of change."""

    ADDED = "added"
    UPDATED = "updated"
    """Capacity, weight, tags or metadata."""
    STATUS = "status"
    LOAD = "load"
    HEALTH = "health"
    """A report was recorded, whether or not it differs from the one before."""
    LEAVING = "leaving"
    """A removal began, or failed so that the member stays."""
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class MemberEvent:
    """One change of one member. The member may have changed again since."""

    kind: MemberEventKind
    member: Member
    before: Value | None = None
    after: Value | None = None


Observer = Callable[[MemberEvent], None]


class Observers:
    """Delivers events to observers one at a time. All see the same order, even if an observer causes an event."""

    def __init__(self, logger: logging.Logger) -> None:
        self._log = logger
        self._observers: dict[object, Observer] = {}
        self._pending: deque[MemberEvent] = deque()
        self._delivering = False

    def add(self, observer: Observer) -> Callable[[], None]:
        """Call the observer from now on. Returns a function that unsubscribes it and may be called twice."""
        key = object()
        self._observers[key] = observer

        def unsubscribe() -> None:
            self._observers.pop(key, None)

        return unsubscribe

    def notify(self, event: MemberEvent) -> None:
        """Call all observers. What one of them raises is logged and does not affect the others."""
        self._pending.append(event)
        if self._delivering:
            return
        self._delivering = True
        try:
            while self._pending:
                self._deliver(self._pending.popleft())
        finally:
            self._delivering = False

    def _deliver(self, event: MemberEvent) -> None:
        for key, observer in tuple(self._observers.items()):
            if key not in self._observers:
                continue
            try:
                observer(event)
            except Exception:
                self._log.exception("an observer of %s of worker %s failed", event.kind, event.member.id)
