"""Where workers and tasks are in life, and the only moves they may make."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, TypeVar

from fairlane.workers.errors import WorkerError, WorkerErrorCode


class WorkerStatus(StrEnum):
    """Where a worker is."""

    CREATED = "created"
    STARTING = "starting"
    READY = "ready"
    """It has a free slot."""
    BUSY = "busy"
    """All its slots are in use."""
    DRAINING = "draining"
    """It finishes what it has and takes nothing new."""
    STOPPED = "stopped"
    FAILED = "failed"


class TaskStatus(StrEnum):
    """Where a task is."""

    PENDING = "pending"
    """Not begun, or between two attempts."""
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


_OUT_OF_WORK: Final = frozenset({WorkerStatus.DRAINING, WorkerStatus.STOPPED, WorkerStatus.FAILED})

WORKER_MOVES: Final[Mapping[WorkerStatus, frozenset[WorkerStatus]]] = MappingProxyType(
    {
        WorkerStatus.CREATED: frozenset({WorkerStatus.STARTING, WorkerStatus.STOPPED}),
        WorkerStatus.STARTING: frozenset({WorkerStatus.READY, WorkerStatus.STOPPED, WorkerStatus.FAILED}),
        WorkerStatus.READY: _OUT_OF_WORK | {WorkerStatus.BUSY},
        WorkerStatus.BUSY: _OUT_OF_WORK | {WorkerStatus.READY},
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


def moved(name: str, moves: Mapping[StatusT, frozenset[StatusT]], now: StatusT, to: StatusT) -> StatusT:
    """Return ``to`` if it may follow ``now``.

    Raises:
        WorkerError: illegal_transition, naming both and what may follow.
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
