"""What the event stream says happened: tasks, attempts, waits, parking, capacity.

Times are server milliseconds. A ``Stamp`` also carries the row's place in the stream, which orders what happened
within one millisecond, so peaks and gaps are exact.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from fairlane.domain.attempt import AttemptState
from fairlane.domain.policy import ParkReason
from fairlane.domain.task import TaskRef, TaskState

_ROW_BITS: Final = 20


def place_of(number: int, row: int) -> int:
    """Return the place in the stream of a row of an event; it orders all rows, and stays exact as a float."""
    return (number << _ROW_BITS) + row


def number_at(place: int) -> int:
    """Return the number of the event at a place."""
    return place >> _ROW_BITS


class Stamp(NamedTuple):
    """When something happened: place in the stream, and server time."""

    place: int
    at_ms: int


class Delta(NamedTuple):
    """A change of a count at a moment."""

    place: int
    at_ms: int
    change: int


@dataclass(slots=True)
class Attempt:
    """One reservation of a task. ``active`` None: never started; ``ended`` None: still going on.

    ``deficit`` and ``owed``: the tenant's after the charge; ``owed_after``: after the end.
    """

    ref: TaskRef
    fence: int
    cost: int
    charge: int
    incarnation: str
    deficit: float
    owed: int
    enqueued: Stamp
    active: Stamp | None = None
    ended: Stamp | None = None
    state: AttemptState = AttemptState.ENQUEUED
    actual: int = 0
    owed_after: int = 0

    @property
    def ended_well(self) -> bool:
        """True when the attempt ran and completed."""
        return self.state is AttemptState.COMPLETED and self.active is not None


@dataclass(slots=True)
class Task:
    """A task and all its attempts, oldest first."""

    ref: TaskRef
    cost: int
    priority: int
    submitted: Stamp
    attempts: list[Attempt] = field(default_factory=list)
    state: TaskState = TaskState.PENDING
    ended: Stamp | None = None


@dataclass(frozen=True, slots=True)
class CapacityRow:
    """One change of the capacity."""

    at: Stamp
    before: int
    after: int
    reason: str


@dataclass(frozen=True, slots=True)
class LateUse:
    """Usage that a worker reported after it had lost the attempt."""

    at: Stamp
    ref: TaskRef
    fence: int
    actual: int


@dataclass(slots=True)
class TenantTrace:
    """One tenant's history. ``weights``: every value it had, with the moment it took effect."""

    weights: list[tuple[Stamp, int]] = field(default_factory=list)
    waiting: list[Delta] = field(default_factory=list)
    """Changes of the number of tasks submitted and not started, retries included."""
    queued: list[Delta] = field(default_factory=list)
    """Changes of the number of tasks the dispatcher could choose from."""
    parked: list[tuple[Stamp, Stamp | None, ParkReason]] = field(default_factory=list)
    deficits: dict[int, float] = field(default_factory=dict)
    """Its debt (negative) or credit when it became backlogged again, by the number of the event."""
    budgets: list[tuple[Stamp, int | None]] = field(default_factory=list)
    """Every budget it had, top-ups included; None: none. A new period takes top-ups back."""
    periods: list[tuple[Stamp, int]] = field(default_factory=list)
    """When a new budget period was first seen, and its number."""
    late: list[LateUse] = field(default_factory=list)


@dataclass(slots=True)
class Evidence:
    """The whole run, by its events. ``gap`` says where the sequence broke; None if it is complete."""

    tasks: dict[TaskRef, Task] = field(default_factory=dict)
    attempts: dict[int, Attempt] = field(default_factory=dict)
    tenants: dict[str, TenantTrace] = field(default_factory=dict)
    capacity: list[CapacityRow] = field(default_factory=list)
    workers: dict[str, str] = field(default_factory=dict)
    """Incarnation to worker name."""
    paused: list[tuple[Stamp, int]] = field(default_factory=list)
    """Moments the pool was paused, and until which server millisecond."""
    resumed: list[Stamp] = field(default_factory=list)
    """Moments an operator ended a pause."""
    rounds: list[tuple[Stamp, int]] = field(default_factory=list)
    """Moments at which the pool's virtual time reached another round, and its number in the epoch."""
    epochs: list[Stamp] = field(default_factory=list)
    gap: str | None = None
    first_number: int = 0
    last_number: int = 0
    last: Stamp = field(default_factory=lambda: Stamp(0, 0))

    def of_tenant(self, tenant: str) -> Iterator[Attempt]:
        """Yield the tenant's attempts in the order of their fences."""
        return (attempt for attempt in self.attempts.values() if attempt.ref.tenant == tenant)

    def worker_of(self, attempt: Attempt) -> str:
        """Return the worker's name, or its incarnation if the stream never named it."""
        return self.workers.get(attempt.incarnation, attempt.incarnation)
