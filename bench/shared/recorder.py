"""Turns the event stream into evidence, as it is read. Owns the check that nothing is missing from the stream."""

from collections.abc import Iterable
from typing import Final

from bench.shared.evidence import (
    Attempt,
    CapacityRow,
    Delta,
    Evidence,
    LateUse,
    Stamp,
    Task,
    TenantTrace,
    number_at,
    place_of,
)
from fairlane.domain.attempt import AttemptState
from fairlane.domain.events import Event, EventKind, Scalar
from fairlane.domain.policy import ParkReason
from fairlane.domain.task import TaskRef, TaskState

Row = tuple[Scalar, ...]

_ENDS: Final = frozenset(
    {
        AttemptState.COMPLETED,
        AttemptState.THROTTLED,
        AttemptState.FAILED,
        AttemptState.LOST,
        AttemptState.EXPIRED,
        AttemptState.CANCELLED,
        AttemptState.RETURNED,
        EventKind.REJECTED,
    }
)


class MalformedEvent(ValueError):
    """A row that the stream's contract does not allow: the evidence cannot be trusted."""


class Recorder:
    """Reads events in order. ``evidence`` is complete up to the last event given."""

    def __init__(self) -> None:
        self.evidence = Evidence()
        self._queued: dict[TaskRef, bool] = {}
        """Tasks waiting in their queue (True) or in their own pause (False)."""

    def read(self, events: Iterable[Event]) -> None:
        """Take in the next events.

        A break in the numbering is kept in ``evidence.gap`` and reading goes on.

        Raises:
            MalformedEvent: a row has an unknown kind, or speaks of a task or an attempt that never was.
        """
        evidence = self.evidence
        for event in events:
            if evidence.first_number == 0:
                evidence.first_number = event.number
            elif event.number != evidence.last_number + 1 and evidence.gap is None:
                evidence.gap = f"event {evidence.last_number} is followed by {event.number}"
            evidence.last_number = event.number
            for index, row in enumerate(event.rows):
                evidence.last = Stamp(place_of(event.number, index), event.at_ms)
                try:
                    self._row(row, evidence.last)
                except (KeyError, IndexError, ValueError, TypeError) as error:
                    raise MalformedEvent(f"event {event.number} ({event.by}): {row!r}: {error!r}") from error

    def _row(self, row: Row, at: Stamp) -> None:  # noqa: C901, PLR0912 - one arm per kind of row
        evidence = self.evidence
        match row:
            case (EventKind.PENDING, str(tenant), str(task), int(cost), int(priority)):
                self._pending(Task(TaskRef(tenant, task), cost, priority, at), at)
            case ("enqueued", str(tenant), str(task), int(fence), int(cost), int(charge), str(incarnation)):
                self._enqueued(Attempt(TaskRef(tenant, task), fence, cost, charge, incarnation, at), at)
            case ("active", str(tenant), str(), int(fence)):
                attempt = evidence.attempts[fence]
                attempt.active, attempt.state = at, AttemptState.ACTIVE
                evidence.tasks[attempt.ref].state = TaskState.ACTIVE
                self._waits(tenant, at, -1)
            case (EventKind.READY, str(tenant), str(task)):
                self._queue(TaskRef(tenant, task), at)
            case (EventKind.PARKED, str(tenant), str(reason)):
                self._trace(tenant).parked.append((at, None, ParkReason(reason)))
            case (EventKind.RELEASED, str(tenant), int(deficit)):
                since, until, reason = self._trace(tenant).parked.pop()
                self._trace(tenant).parked.append((since, until or at, reason))
                self._trace(tenant).deficits[number_at(at.place)] = deficit
            case (EventKind.ENTERED, str(tenant), int(deficit)):
                self._trace(tenant).deficits[number_at(at.place)] = deficit
            case (EventKind.TENANT, str(tenant), int(weight), *_):
                self._trace(tenant).weights.append((at, weight))
                self._trace(tenant).budgets.append((at, None))
            case (EventKind.BUDGET, str(tenant), int(limit)):
                self._trace(tenant).budgets.append((at, limit))
            case (EventKind.PERIOD, str(tenant), int(number)):
                self._trace(tenant).periods.append((at, number))
            case (EventKind.LATE, str(tenant), str(task), int(fence), int(actual)):
                self._late(LateUse(at, TaskRef(tenant, task), fence, actual))
            case (EventKind.CAPACITY, int(before), int(after), str(reason)):
                evidence.capacity.append(CapacityRow(at, before, after, reason))
            case (EventKind.WORKER, str(incarnation), str(name), str()):
                evidence.workers[incarnation] = name
            case (EventKind.PAUSED, int(until)):
                evidence.paused.append((at, until))
            case (EventKind.EPOCH, *_):
                evidence.epochs.append(at)
            case (EventKind.RESUMED,):
                evidence.resumed.append(at)
            case (EventKind.REMOVED, str()):
                pass
            case (str(kind), str(), str(), int(), int(), int(), int(), str(), int()) if kind in _ENDS:
                self._end(row, at)
            case _:
                raise ValueError("not a row of the contract")

    def _pending(self, task: Task, at: Stamp) -> None:
        self.evidence.tasks[task.ref] = task
        self._queue(task.ref, at)
        self._waits(task.ref.tenant, at, 1)

    def _enqueued(self, attempt: Attempt, at: Stamp) -> None:
        task = self.evidence.tasks[attempt.ref]
        self.evidence.attempts[attempt.fence] = attempt
        task.attempts.append(attempt)
        task.state = TaskState.ENQUEUED
        self._unqueue(attempt.ref, at)

    def _end(self, row: Row, at: Stamp) -> None:
        kind, tenant, name, fence, actual, forfeited, _, state, not_before = row
        ref = TaskRef(str(tenant), str(name))
        task = self.evidence.tasks[ref]
        task.state = TaskState(str(state))
        attempt = self.evidence.attempts[int(fence)] if fence else None
        started = attempt is not None and attempt.active is not None
        if attempt is not None:
            if attempt.ended is not None:
                raise ValueError("the attempt had ended before")
            attempt.ended, attempt.state = at, AttemptState(str(kind))
            attempt.actual, attempt.forfeited = int(actual), int(forfeited)
        if task.state is TaskState.PENDING:
            if started:
                self._waits(ref.tenant, at, 1)
            if not_before:
                self._queued[ref] = False
            else:
                self._queue(ref, at)
            return
        task.ended = at
        if not started:
            self._waits(ref.tenant, at, -1)
        self._unqueue(ref, at)

    def _late(self, use: LateUse) -> None:
        attempt = self.evidence.attempts[use.fence]
        if attempt.ref != use.ref or attempt.ended is None:
            raise ValueError("late usage of an attempt that was not taken away")
        self._trace(use.ref.tenant).late.append(use)

    def _queue(self, ref: TaskRef, at: Stamp) -> None:
        if not self._queued.get(ref, False):
            self._trace(ref.tenant).queued.append(Delta(*at, 1))
        self._queued[ref] = True

    def _unqueue(self, ref: TaskRef, at: Stamp) -> None:
        if self._queued.pop(ref, False):
            self._trace(ref.tenant).queued.append(Delta(*at, -1))

    def _waits(self, tenant: str, at: Stamp, change: int) -> None:
        self._trace(tenant).waiting.append(Delta(*at, change))

    def _trace(self, tenant: str) -> TenantTrace:
        return self.evidence.tenants.setdefault(tenant, TenantTrace())
