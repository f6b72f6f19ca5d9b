"""Turns the event stream into evidence, as it is read. Owns the check that nothing is missing from the stream."""

from collections.abc import Iterable
from typing import assert_never

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
from fairlane.domain import events
from fairlane.domain.attempt import AttemptState
from fairlane.domain.events import EndRow, Event, Row
from fairlane.domain.task import TaskRef, TaskState
from fairlane.errors import MalformedEvent


class Recorder:
    """Reads events in order. ``evidence`` is complete up to the last event given."""

    def __init__(self) -> None:
        self.evidence = Evidence()
        self._queued: dict[TaskRef, bool] = {}
        """Tasks waiting in their queue (True) or in their own pause (False)."""

    def read(self, stream: Iterable[Event]) -> None:
        """Take in the next events.

        A break in the numbering is kept in ``evidence.gap``; reading continues.

        Raises:
            MalformedEvent: a row names a task or an attempt that never was, or contradicts the rows before it.
        """
        evidence = self.evidence
        for event in stream:
            if evidence.first_number == 0:
                evidence.first_number = event.number
            elif event.number != evidence.last_number + 1 and evidence.gap is None:
                evidence.gap = f"event {evidence.last_number} is followed by {event.number}"
            evidence.last_number = event.number
            for index, row in enumerate(event.rows):
                evidence.last = Stamp(place_of(event.number, index), event.at_ms)
                try:
                    self._row(row, evidence.last)
                except (KeyError, IndexError, ValueError) as error:
                    raise MalformedEvent(f"event {event.number} ({event.by}): {row}: {error!r}") from error

    def _row(self, row: Row, at: Stamp) -> None:  # noqa: C901, PLR0912 - one arm per kind of row
        evidence = self.evidence
        match row:
            case events.PendingRow():
                self._pending(Task(row.ref, row.cost, row.priority, at), at)
            case events.EnqueuedRow():
                attempt = Attempt(row.ref, row.fence, row.cost, row.charge, row.incarnation, row.deficit, row.owed, at)
                self._enqueued(attempt, at)
            case events.ActiveRow():
                attempt = evidence.attempts[row.fence]
                attempt.active, attempt.state = at, AttemptState.ACTIVE
                evidence.tasks[attempt.ref].state = TaskState.ACTIVE
                self._waits(row.tenant, at, -1)
            case events.EndRow():
                self._end(row, at)
            case events.ReadyRow():
                self._queue(row.ref, at)
            case events.ParkedRow():
                self._trace(row.tenant).parked.append((at, None, row.reason))
            case events.ReleasedRow():
                since, until, reason = self._trace(row.tenant).parked.pop()
                self._trace(row.tenant).parked.append((since, until or at, reason))
                self._trace(row.tenant).deficits[number_at(at.place)] = row.deficit
            case events.EnteredRow():
                self._trace(row.tenant).deficits[number_at(at.place)] = row.deficit
            case events.TenantRow():
                self._trace(row.tenant).weights.append((at, row.weight))
                self._trace(row.tenant).budgets.append((at, None))
            case events.BudgetRow():
                self._trace(row.tenant).budgets.append((at, row.limit))
            case events.PeriodRow():
                self._trace(row.tenant).periods.append((at, row.number))
            case events.LateRow():
                self._late(LateUse(at, row.ref, row.fence, row.actual))
            case events.CapacityRow():
                evidence.capacity.append(CapacityRow(at, row.before, row.after, row.reason))
            case events.WorkerRow():
                evidence.workers[row.incarnation] = row.name
            case events.PausedRow():
                evidence.paused.append((at, row.until_ms))
            case events.RoundRow():
                evidence.rounds.append((at, row.number))
            case events.EpochRow():
                evidence.epochs.append(at)
            case events.ResumedRow():
                evidence.resumed.append(at)
            case events.RemovedRow() | events.ClockRow():
                pass
            case _:
                assert_never(row)

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

    def _end(self, row: EndRow, at: Stamp) -> None:
        task = self.evidence.tasks[row.ref]
        task.state = row.state
        attempt = self.evidence.attempts[row.fence] if row.fence else None
        started = attempt is not None and attempt.active is not None
        if attempt is not None:
            if attempt.ended is not None:
                raise ValueError("the attempt had ended before")
            attempt.ended, attempt.state = at, AttemptState(row.end)
            attempt.actual, attempt.owed_after = row.actual, row.owed
        if task.state is TaskState.PENDING:
            if started:
                self._waits(row.tenant, at, 1)
            if row.not_before_ms:
                self._queued[row.ref] = False
            else:
                self._queue(row.ref, at)
            return
        task.ended = at
        if not started:
            self._waits(row.tenant, at, -1)
        self._unqueue(row.ref, at)

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
