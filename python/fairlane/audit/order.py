"""Rule `order`: the events replayed against the tables of `fairlane.domain`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from fairlane.audit.violation import Rule, Violation
from fairlane.domain.attempt import ATTEMPT_TRANSITIONS, AttemptState
from fairlane.domain.events import Event, EventKind, Scalar
from fairlane.domain.task import TASK_TRANSITIONS, TaskRef, TaskState

ENDS: Final = frozenset(state.value for state, moves in ATTEMPT_TRANSITIONS.items() if not moves) | {
    EventKind.REJECTED.value
}
"""The kinds of rows that end a task or an attempt."""


@dataclass(slots=True)
class _Life:
    """What the events so far say about one task. ``attempt`` is None between attempts."""

    state: TaskState
    fence: int = 0
    attempt: AttemptState | None = None


@dataclass(slots=True)
class Replay:
    """Follows every task through the events, in order. Feed all that the stream holds, then `finish`."""

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
            for problem in self._follow(row):
                yield _violation(f"event {event.number} ({event.by}) {row[1]}:{row[2]}", *problem)

    def finish(self, events: int, records: Mapping[TaskRef, TaskState]) -> Iterator[Violation]:
        """Compare the end of the replay with what is stored; ``events`` is the pool's count."""
        if self.number not in {events, 0}:
            yield _violation("events", f"the last is {self.number}", f"{events}")
        for ref, state in records.items():
            life = self.tasks.get(ref)
            if life is not None and life.state is not state:
                yield _violation(f"task:{ref}", f"stored as {state}", f"{life.state}, as its last event says")
            elif life is None and self.from_the_start:
                yield _violation(f"task:{ref}", f"{state} without an event", "an event for every accepted task")

    def _follow(self, row: tuple[Scalar, ...]) -> Iterator[tuple[str, str]]:
        kind = str(row[0])
        if kind in ENDS:
            yield from self._end(kind, row)
        elif kind == EventKind.PENDING:
            yield from self._begin(row)
        elif kind in {EventKind.READY, AttemptState.ENQUEUED, AttemptState.ACTIVE}:
            life = self._life(row)
            if life is None:
                yield from self._unseen(kind)
            elif kind == EventKind.READY:
                yield from _expect(life.state is TaskState.PENDING, f"ready while {life.state}", "pending")
            else:
                yield from self._step(life, AttemptState(kind), _integer(row[3]))

    def _begin(self, row: tuple[Scalar, ...]) -> Iterator[tuple[str, str]]:
        life = self._life(row)
        if life is not None:
            yield from _expect(life.state.ended, f"accepted while {life.state}", "a new task, or one that had ended")
        self._put(row, _Life(TaskState.PENDING))

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

    def _end(self, kind: str, row: tuple[Scalar, ...]) -> Iterator[tuple[str, str]]:
        fence, state = _integer(row[3]), TaskState(str(row[7]))
        life = self._life(row)
        if life is None:
            yield from self._unseen(kind)
            self._put(row, _Life(state))
            return
        if fence == 0:
            yield from _expect(life.attempt is None, f"{kind} without a fence", f"fence {life.fence}")
        elif life.attempt is None or fence != life.fence:
            yield f"{kind} of attempt {fence}", f"the attempt under way ({life.fence if life.attempt else 'none'})"
        elif AttemptState(kind) not in ATTEMPT_TRANSITIONS[life.attempt]:
            yield f"{kind} after {life.attempt}", "a move of the attempt table"
        yield from _move(life, state)
        life.attempt = None

    def _unseen(self, kind: str) -> Iterator[tuple[str, str]]:
        if self.from_the_start:
            yield f"{kind} of a task that was never accepted", "pending first"

    def _life(self, row: tuple[Scalar, ...]) -> _Life | None:
        return self.tasks.get(TaskRef(str(row[1]), str(row[2])))

    def _put(self, row: tuple[Scalar, ...], life: _Life) -> None:
        self.tasks[TaskRef(str(row[1]), str(row[2]))] = life


def _move(life: _Life, to: TaskState) -> Iterator[tuple[str, str]]:
    yield from _expect(to in TASK_TRANSITIONS[life.state], f"from {life.state} to {to}", "a move of the task table")
    life.state = to


def _expect(holds: bool, found: str, expected: str) -> Iterator[tuple[str, str]]:
    if not holds:
        yield found, expected


def _integer(value: Scalar) -> int:
    return int(value)


def _violation(subject: str, found: str, expected: str) -> Violation:
    return Violation(Rule.ORDER, subject, found, expected)
