"""A task: one LLM call to make, and the states it moves through.

Only the store's scripts move a task. The scripts and events that move it into each state:

    pending    submit; and again: throttle, release, a failure with attempts left, a lost worker
    enqueued   dispatch: its cost is held, and it is handed to a worker
    active     start: the worker has taken it and may call the provider
    completed  settle
    failed     settle: the last allowed attempt failed
    rejected   dispatch: the current limits can never admit it, or its tenant's budget is used up (policy reject)
    expired    its deadline passed: found by timer, at start, or by its worker
    cancelled  cancel; or its worker, if the task was active
    dead       reap or evict: it lost too many workers, or must not be repeated
"""

from enum import StrEnum
from typing import Final, NamedTuple


class TaskState(StrEnum):
    """The state of a task."""

    PENDING = "pending"
    ENQUEUED = "enqueued"
    ACTIVE = "active"
    COMPLETED = "completed"
    FAILED = "failed"
    REJECTED = "rejected"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    DEAD = "dead"

    @property
    def ended(self) -> bool:
        """True when no transition leaves this state."""
        return not TASK_TRANSITIONS[self]


_ENDS_BEFORE_START = frozenset({TaskState.CANCELLED, TaskState.EXPIRED})

TASK_TRANSITIONS: Final[dict[TaskState, frozenset[TaskState]]] = {
    TaskState.PENDING: frozenset({TaskState.ENQUEUED, TaskState.REJECTED}) | _ENDS_BEFORE_START,
    TaskState.ENQUEUED: frozenset({TaskState.ACTIVE, TaskState.PENDING}) | _ENDS_BEFORE_START,
    TaskState.ACTIVE: frozenset(
        {
            TaskState.PENDING,
            TaskState.COMPLETED,
            TaskState.FAILED,
            TaskState.EXPIRED,
            TaskState.CANCELLED,
            TaskState.DEAD,
        }
    ),
    TaskState.COMPLETED: frozenset(),
    TaskState.FAILED: frozenset(),
    TaskState.REJECTED: frozenset(),
    TaskState.EXPIRED: frozenset(),
    TaskState.CANCELLED: frozenset(),
    TaskState.DEAD: frozenset(),
}
"""The only table of allowed moves. The Lua prelude is rendered from it."""


class OnUnknown(StrEnum):
    """What to do with a task whose worker was lost after the provider may have been called."""

    RETRY = "retry"
    FAIL = "fail"


class TaskRef(NamedTuple):
    """A task's full name: its id is unique within its tenant only."""

    tenant: str
    id: str

    def __str__(self) -> str:
        return f"{self.tenant}:{self.id}"


class TaskView(NamedTuple):
    """A task in the store at one moment. Times are server milliseconds since the epoch; 0: not yet."""

    ref: TaskRef
    state: TaskState
    cost: int
    priority: int
    fence: int
    failures: int
    recoveries: int
    throttles: int
    submitted_ms: int
    started_ms: int
    ended_ms: int
    actual: int | None
    result: bytes | None
    error_code: str
    error: str
