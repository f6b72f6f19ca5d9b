"""The statuses of workers and tasks, and the allowed transitions."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, TypeVar

from fairlane.workers.errors import WorkerError, WorkerErrorCode


class WorkerStatus(StrEnum):
    """The stages of a worker's life."""

    CREATED = "created"
    STARTING = "starting"
    READY = "ready"
    """It has a free slot."""
    BUSY = "busy"
    """All its slots are in use."""
    DRAINING = "draining"
    """It finishes its tasks and accepts no new ones."""
    STOPPED = "stopped"
    FAILED = "failed"


class TaskStatus(StrEnum):
    """The stages of a task's life."""

    PENDING = "pending"
    """Not started, or between two attempts."""
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


_LEAVING_WORK: Final = frozenset({WorkerStatus.DRAINING, WorkerStatus.STOPPED, WorkerStatus.FAILED})

WORKER_MOVES: Final[Mapping[WorkerStatus, frozenset[WorkerStatus]]] = MappingProxyType(
    {
        WorkerStatus.CREATED: frozenset({WorkerStatus.STARTING, WorkerStatus.STOPPED}),
        WorkerStatus.STARTING: frozenset({WorkerStatus.READY, WorkerStatus.STOPPED, WorkerStatus.FAILED}),
        WorkerStatus.READY: _LEAVING_WORK | {WorkerStatus.BUSY},
        WorkerStatus.BUSY: _LEAVING_WORK | {WorkerStatus.READY},
        WorkerStatus.DRAINING: frozenset({WorkerStatus.STOPPED, WorkerStatus.FAILED}),
        WorkerStatus.STOPPED: frozenset({WorkerStatus.STARTING}),
        WorkerStatus.FAILED: frozenset({WorkerStatus.STARTING, WorkerStatus.STOPPED}),
    }
)
TASK_MOVES: Final[Mapping[TaskStatus, frozenset[TaskStatus]]] = MappingProxyType(
    {
        TaskStatus.PENDING: frozenset({TaskStatus.RUNNING, TaskStatus.FAILED, TaskStatus.CANCELLED}),
        TaskStatus.RUNNING: frozenset(
            {TaskStatus.PENDING, TaskStatus.COMPLETED, TaskStatus.FAILED, TaskStatus.CANCELLED}
        ),
        TaskStatus.COMPLETED: frozenset(),
        TaskStatus.FAILED: frozenset(),
        TaskStatus.CANCELLED: frozenset(),
    }
)

StatusT = TypeVar("StatusT", bound=StrEnum)


def transition(name: str, moves: Mapping[StatusT, frozenset[StatusT]], now: StatusT, to: StatusT) -> StatusT:
    """Return ``to`` if it may follow ``now``.

    Raises:
        WorkerError: illegal_transition, naming both and the allowed ones.
    """
    if to not in moves[now]:
        allowed = ", ".join(sorted(moves[now])) or "nothing"
        raise WorkerError(
            WorkerErrorCode.ILLEGAL_TRANSITION,
            f"{name} is {now} and cannot become {to}: only {allowed} may follow",
            name=name,
            now=now,
            to=to,
        )
    return to
