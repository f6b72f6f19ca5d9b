"""Rule `order`: the events replayed against the tables of `fairlane.domain`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fairlane.audit.violation import Rule, Violation
from fairlane.domain.attempt import ATTEMPT_TRANSITIONS, AttemptState
from fairlane.domain.events import ActiveRow, EndRow, EnqueuedRow, Event, PendingRow, ReadyRow, kind_of
from fairlane.domain.task import TASK_TRANSITIONS, TaskRef, TaskState

_OfTask = ActiveRow | EndRow | EnqueuedRow | PendingRow | ReadyRow


@dataclass(slots=True)
class _Life:
    """One task after the events so far. ``attempt`` is None between attempts."""

    state: TaskState
    fence: int = 0
    attempt: AttemptState | None = None


@dataclass(slots=True)
class Replay:
    """Follows every task through the events. Feed all events of the stream in order, then `finish`."""

    tasks: dict[TaskRef, _Life] = field(default_factory=dict)
    from_the_start: bool = False
    """The stream still holds its first event, so that every task must begin with ``pending``."""
    number: int = 0
    fence: int = 0
    at_ms: int = 0

    def feed(self, event: Event) -> Iterator[Violation]:
        """Check one event."""
        if self.number == 0:
            self.from_the_start = event.number == 1
        elif event.number != self.number + 1:
            yield _violation(f"event {event.number}", f"follows event {self.number}", "numbers without a gap")
        if event.at_ms < self.at_ms:
            yield _violation(f"event {event.number}", f"at {event.at_ms} ms", f"not before {self.at_ms} ms")
        self.number, self.at_ms = event.number, max(event.at_ms, self.at_ms)
        for row in event.rows:
            if isinstance(row, _OfTask):
                for problem in self._follow(row):
                    yield _violation(f"event {event.number} ({event.by}) {row.ref}", *problem)

    def finish(self, events: int, records: Mapping[TaskRef, TaskState]) -> Iterator[Violation]:
        """Compare the end of the replay with the stored records; ``events`` is the pool's count."""
        if self.number not in {events, 0}:
            yield _violation("events", f"the last is {self.number}", f"{events}")
        for ref, state in records.items():
            life = self.tasks.get(ref)
            if life is not None and life.state is not state:
                yield _violation(f"task:{ref}", f"stored as {state}", f"{life.state}, as its last event says")
            elif life is None and self.from_the_start:
                yield _violation(f"task:{ref}", f"{state} without an event", "an event for every accepted task")

    def _follow(self, row: _OfTask) -> Iterator[tuple[str, str]]:
        life = self.tasks.get(row.ref)
        match life, row:
            case _, PendingRow():
                if life is not None:
                    expected = "a new task, or one that had ended"
                    yield from _expect(life.state.ended, f"accepted while {life.state}", expected)
                self.tasks[row.ref] = _Life(TaskState.PENDING)
            case _, EndRow():
                yield from self._end(life, row)
            case None, _:
                yield from self._unseen(kind_of(row))
            case _Life(), ReadyRow():
                yield from _expect(life.state is TaskState.PENDING, f"ready while {life.state}", "pending")
            case _Life(), EnqueuedRow():
                yield from self._step(life, AttemptState.ENQUEUED, row.fence)
            case _Life(), ActiveRow():
                yield from self._step(life, AttemptState.ACTIVE, row.fence)

    def _step(self, life: _Life, to: AttemptState, fence: int) -> Iterator[tuple[str, str]]:
        yield from _move(life, TaskState(to.value))
        if to is AttemptState.ENQUEUED:
            yield from _expect(life.attempt is None, f"enqueued while {life.attempt}", "no attempt before")
            yield from _expect(fence > self.fence, f"fence {fence}", f"above {self.fence}")
            self.fence = max(self.fence, fence)
            life.fence = fence
        else:
            yield from _expect(fence == life.fence, f"fence {fence}", f"{life.fence}")
        life.attempt = to

    def _end(self, life: _Life | None, row: EndRow) -> Iterator[tuple[str, str]]:
        if life is None:
            yield from self._unseen(row.end)
            self.tasks[row.ref] = _Life(row.state)
            return
        if row.fence == 0:
            yield from _expect(life.attempt is None, f"{row.end} without a fence", f"fence {life.fence}")
        elif life.attempt is None or row.fence != life.fence:
            under_way = life.fence if life.attempt else "none"
            yield f"{row.end} of attempt {row.fence}", f"the attempt under way ({under_way})"
        elif row.end not in ATTEMPT_TRANSITIONS[life.attempt]:
            yield f"{row.end} after {life.attempt}", "a move of the attempt table"
        yield from _move(life, row.state)
        life.attempt = None

    def _unseen(self, kind: str) -> Iterator[tuple[str, str]]:
        if self.from_the_start:
            yield f"{kind} of a task that was never accepted", "pending first"


def _move(life: _Life, to: TaskState) -> Iterator[tuple[str, str]]:
    yield from _expect(to in TASK_TRANSITIONS[life.state], f"from {life.state} to {to}", "a move of the task table")
    life.state = to


def _expect(holds: bool, found: str, expected: str) -> Iterator[tuple[str, str]]:
    if not holds:
        yield found, expected


def _violation(subject: str, found: str, expected: str) -> Violation:
    return Violation(Rule.ORDER, subject, found, expected)
