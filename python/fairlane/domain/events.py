"""The event stream: the transitions of each script call, in order; the evidence for reports and audits.

One stream entry per script call that changed something: a number (a sequence without gaps), the server's time, the
command, and the rows in the order of the decisions. On the wire a row is an array: its kind, then the fields of its
class in the order in which they stand here. `fairlane.domain.event_decoder` is the only reader of that form.

Costs, charges and deficits are in units. A fence is an attempt's number; see docs/glossary.md.
"""

from dataclasses import dataclass
from typing import Final, Literal

from fairlane.domain.attempt import ATTEMPT_ENDS, AttemptState
from fairlane.domain.policy import CapacityReason, ParkReason, WorkerState
from fairlane.domain.task import TaskRef, TaskState

End = AttemptState | Literal[TaskState.REJECTED]
ENDS: Final[frozenset[End]] = ATTEMPT_ENDS | {TaskState.REJECTED}
"""The kinds of rows that end an attempt, or a task that was waiting. A task is rejected only while it waits."""


class _OfTask:
    __slots__ = ()
    tenant: str
    task: str

    @property
    def ref(self) -> TaskRef:
        """The task's name."""
        return TaskRef(self.tenant, self.task)


@dataclass(frozen=True, slots=True)
class PendingRow(_OfTask):
    """`submit` accepted a task."""

    tenant: str
    task: str
    cost: int
    priority: int


@dataclass(frozen=True, slots=True)
class EnqueuedRow(_OfTask):
    """`dispatch` reserved a task and handed it to a worker, in one step.

    `deficit` and `owed`: the tenant's after the charge.
    """

    tenant: str
    task: str
    fence: int
    cost: int
    charge: int
    incarnation: str
    deficit: float
    owed: int


@dataclass(frozen=True, slots=True)
class ActiveRow(_OfTask):
    """The worker started the attempt."""

    tenant: str
    task: str
    fence: int


@dataclass(frozen=True, slots=True)
class EndRow(_OfTask):
    """An attempt ended; with fence 0, a task that was waiting ended.

    `owed`: what the tenant is owed from now on. `ratio`: the tenant's charge ratio from now on, in
    permille. `state`: the task's new state. `not_before_ms`: until when a pending task waits outside its queue, 0 = it
    is in its queue.
    """

    end: End
    tenant: str
    task: str
    fence: int
    actual: int
    owed: int
    ratio: int
    state: TaskState
    not_before_ms: int


@dataclass(frozen=True, slots=True)
class ReadyRow(_OfTask):
    """A task that waited outside its queue is in the queue again."""

    tenant: str
    task: str


@dataclass(frozen=True, slots=True)
class ParkedRow:
    """A limit of the tenant's own stopped it."""

    tenant: str
    reason: ParkReason


@dataclass(frozen=True, slots=True)
class ReleasedRow:
    """A parked tenant's next task fits again, or it has no task left."""

    tenant: str
    deficit: float


@dataclass(frozen=True, slots=True)
class EnteredRow:
    """A tenant's queue is no longer empty. Left out when the deficit is 0."""

    tenant: str
    deficit: float


@dataclass(frozen=True, slots=True)
class TenantRow:
    """An operator registered or changed a tenant. Its budget, if any, follows in a `budget` row. Ceilings: 0 = none."""

    tenant: str
    weight: int
    slot_ceiling: int
    cost_ceiling: int


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """The tenant's budget, with its top-ups, after an operator set it or a new period ended the top-ups."""

    tenant: str
    limit: int


@dataclass(frozen=True, slots=True)
class PeriodRow:
    """A new budget period began."""

    tenant: str
    number: int


@dataclass(frozen=True, slots=True)
class LateRow(_OfTask):
    """A worker reported the usage of an attempt that it had already lost."""

    tenant: str
    task: str
    fence: int
    actual: int


@dataclass(frozen=True, slots=True)
class RemovedRow:
    """An operator removed a tenant."""

    tenant: str


@dataclass(frozen=True, slots=True)
class CapacityRow:
    """The capacity changed."""

    before: int
    after: int
    reason: CapacityReason


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A worker's incarnation changed its state."""

    incarnation: str
    name: str
    state: WorkerState


@dataclass(frozen=True, slots=True)
class PausedRow:
    """The pool starts nothing until this moment (server ms)."""

    until_ms: int


@dataclass(frozen=True, slots=True)
class ResumedRow:
    """An operator ended a pause."""


@dataclass(frozen=True, slots=True)
class RoundRow:
    """The pool's virtual time has reached this round. `quantum`: the virtual time of one round."""

    number: int
    quantum: int


@dataclass(frozen=True, slots=True)
class EpochRow:
    """The last task ended, and a new epoch begins: every virtual time is 0."""

    number: int


@dataclass(frozen=True, slots=True)
class ClockRow:
    """The server's clock was set back by about this much, as any command may notice. Time continues from the latest."""

    back_ms: int


Row = (
    PendingRow
    | EnqueuedRow
    | ActiveRow
    | EndRow
    | ReadyRow
    | ParkedRow
    | ReleasedRow
    | EnteredRow
    | TenantRow
    | BudgetRow
    | PeriodRow
    | LateRow
    | RemovedRow
    | CapacityRow
    | WorkerRow
    | PausedRow
    | ResumedRow
    | RoundRow
    | EpochRow
    | ClockRow
)
KINDS: Final[dict[str, type[Row]]] = {
    "pending": PendingRow,
    "enqueued": EnqueuedRow,
    "active": ActiveRow,
    **dict.fromkeys(sorted(ENDS), EndRow),
    "ready": ReadyRow,
    "parked": ParkedRow,
    "released": ReleasedRow,
    "entered": EnteredRow,
    "tenant": TenantRow,
    "budget": BudgetRow,
    "period": PeriodRow,
    "late": LateRow,
    "removed": RemovedRow,
    "capacity": CapacityRow,
    "worker": WorkerRow,
    "paused": PausedRow,
    "resumed": ResumedRow,
    "round": RoundRow,
    "epoch": EpochRow,
    "clock": ClockRow,
}
"""What a row begins with on the wire, and its class."""
_KIND_OF: Final = {row: kind for kind, row in KINDS.items()}


def kind_of(row: Row) -> str:
    """Return what the row begins with on the wire."""
    return row.end if isinstance(row, EndRow) else _KIND_OF[type(row)]


@dataclass(frozen=True, slots=True)
class Event:
    """One stream entry.

    ``stream_id`` is where to read on; ``number`` grows by exactly one from entry to entry; ``by`` is the command.
    """

    stream_id: str
    number: int
    at_ms: int
    by: str
    rows: tuple[Row, ...]
