"""A typed piece of work and its status while a manager executes it."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Generic, TypeVar, overload

from pydantic import Field

from fairlane.domain.limits import MAX_TASK_ID, id_problem
from fairlane.workers.errors import WorkerError, WorkerErrorCode, invalid, shown
from fairlane.workers.members.status import TASK_MOVES, TaskStatus, transition
from fairlane.workers.validation import ValidatedModel

In = TypeVar("In")
Out = TypeVar("Out")
Work = Callable[[In], Out | Awaitable[Out]]
"""A function to execute. For a transport to another process it must be importable there, or pickle."""


class TaskMetadata(ValidatedModel):
    """The creation time of a task (seconds since the epoch), and the workers of its attempts so far, in order."""

    created_s: Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
    workers: tuple[str, ...] = ()

    @property
    def attempts(self) -> int:
        """Attempts so far."""
        return len(self.workers)


class Task(Generic[In, Out]):
    """Work under an id. Only a manager changes its status, and it is executed once."""

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
        """Its stage of life."""
        return self._status

    @property
    def metadata(self) -> TaskMetadata:
        """Its creation time and attempts."""
        return self._metadata

    @property
    def body(self) -> Work[In, Out]:
        """The function that a transport executes: the work, or `execute` if a subclass overrides it."""
        return self.work if getattr(self.execute, "__func__", None) is Task.execute else self.execute

    def execute(self, value: In) -> Out | Awaitable[Out]:
        """Do the work. Returns and raises what the work does."""
        return self.work(value)

    def claim(self) -> None:
        """Claim the task for one manager, which alone changes its status until `release`.

        Raises WorkerError: illegal_transition: it was executed, or is claimed.
        """
        transition(f"task {self.id}", TASK_MOVES, self._status, TaskStatus.RUNNING)
        if self._claimed:
            text = f"task {self.id} is already assigned, and has not ended"
            raise WorkerError(WorkerErrorCode.ILLEGAL_TRANSITION, text, task=self.id)
        self._claimed = True

    def release(self) -> None:
        """End the claim."""
        self._claimed = False

    def begin(self, worker_id: str) -> None:
        """Begin an attempt. Raises WorkerError (illegal_transition) unless it is pending."""
        self.move(TaskStatus.RUNNING)
        workers = (*self._metadata.workers, worker_id)
        self._metadata = self._metadata.model_copy(update={"workers": workers})

    def move(self, to: TaskStatus) -> None:
        """Change the status. Raises WorkerError (illegal_transition)."""
        self._status = transition(f"task {self.id}", TASK_MOVES, self._status, to)
