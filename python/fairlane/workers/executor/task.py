"""One piece of typed work, and its life under a manager."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Generic, TypeVar, overload

from pydantic import Field

from fairlane.domain.limits import MAX_TASK_ID, id_problem
from fairlane.workers.errors import WorkerError, WorkerErrorCode, invalid, shown
from fairlane.workers.members.status import TASK_MOVES, TaskStatus, moved
from fairlane.workers.validation import ValidatedModel

In = TypeVar("In")
Out = TypeVar("Out")
Work = Callable[[In], Out | Awaitable[Out]]
"""What is executed. A transport to another process sends it there: it must be importable, or else pickle."""


class TaskMetadata(ValidatedModel):
    """When a task was made (seconds since the epoch), and the workers of its attempts so far, in order."""

    created_s: Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
    workers: tuple[str, ...] = ()

    @property
    def attempts(self) -> int:
        """How often it was begun."""
        return len(self.workers)


class Task(Generic[In, Out]):
    """Work under an id. Only a manager moves its status; it runs to its end once."""

    @overload
    def __init__(self, work: Callable[[In], Awaitable[Out]], *, task_id: str, created_s: float) -> None: ...

    @overload
    def __init__(self, work: Work[In, Out], *, task_id: str, created_s: float) -> None: ...

    def __init__(self, work: Work[In, Out], *, task_id: str, created_s: float) -> None:
        """Raises WorkerError: invalid_configuration."""
        problem = id_problem(task_id, longest=MAX_TASK_ID)
        if problem is not None:
            text = f"task_id = {shown(task_id, ascii)[:60]}: {problem}"
            raise WorkerError(WorkerErrorCode.INVALID_CONFIGURATION, text)
        if not callable(work):
            raise invalid("work", work, "callable")
        self.id = task_id
        self.work = work
        self._status = TaskStatus.PENDING
        self._claimed = False
        self._metadata = TaskMetadata.of(created_s=created_s)

    @property
    def status(self) -> TaskStatus:
        """Where it is."""
        return self._status

    @property
    def metadata(self) -> TaskMetadata:
        """What is known about it."""
        return self._metadata

    @property
    def body(self) -> Work[In, Out]:
        """What a transport executes, and sends: the work itself, or `execute` if a subclass has its own."""
        return self.work if getattr(self.execute, "__func__", None) is Task.execute else self.execute

    def execute(self, value: In) -> Out | Awaitable[Out]:
        """Do the work; what it returns or raises is the work's own."""
        return self.work(value)

    def claim(self) -> None:
        """Take it, as a manager does that executes it and alone moves it until `release`.

        Raises WorkerError: illegal_transition: it has been executed, or a manager has taken it.
        """
        moved(f"task {self.id}", TASK_MOVES, self._status, TaskStatus.RUNNING)
        if self._claimed:
            text = f"task {self.id} is assigned, and has not ended"
            raise WorkerError(WorkerErrorCode.ILLEGAL_TRANSITION, text, task=self.id)
        self._claimed = True

    def release(self) -> None:
        """Let go of it."""
        self._claimed = False

    def begin(self, worker_id: str) -> None:
        """Begin an attempt. Raises WorkerError (illegal_transition) unless it is pending."""
        self.move(TaskStatus.RUNNING)
        workers = (*self._metadata.workers, worker_id)
        self._metadata = self._metadata.model_copy(update={"workers": workers})

    def move(self, to: TaskStatus) -> None:
        """Change the status. Raises WorkerError (illegal_transition)."""
        self._status = moved(f"task {self.id}", TASK_MOVES, self._status, to)
