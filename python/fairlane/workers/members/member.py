"""The contracts: what a pool keeps alive (a member), and what also executes tasks (a worker)."""

from collections.abc import Callable, Mapping
from typing import Annotated, Protocol, runtime_checkable

from pydantic import Field

from fairlane.domain.limits import MAX_SLOTS, MAX_WEIGHT
from fairlane.workers.executor.task import In, Out, Task
from fairlane.workers.members.metrics import WorkerMetrics
from fairlane.workers.members.status import WorkerStatus
from fairlane.workers.validation import ValidatedModel

_Id = Annotated[str, Field(strict=True, pattern=r"^[A-Za-z0-9][A-Za-z0-9._@-]{0,199}$")]
_Text = Annotated[str, Field(strict=True, min_length=1, max_length=200)]


class WorkerInfo(ValidatedModel):
    """Who a worker is and what it can do."""

    id: _Id
    kind: _Text
    """The transport, such as ``local``; one of few, since figures are kept by it."""
    capacity: Annotated[int, Field(strict=True, ge=1, le=MAX_SLOTS)]
    """Tasks it executes at once."""
    weight: Annotated[int, Field(strict=True, ge=1, le=MAX_WEIGHT)] = 1
    """Its share under a weighted strategy."""
    tags: frozenset[_Text] = frozenset()
    metadata: Mapping[str, str] = {}


class WorkerHealth(ValidatedModel):
    """What a worker says about itself. ``detail`` is for people."""

    healthy: Annotated[bool, Field(strict=True)]
    detail: Annotated[str, Field(strict=True, max_length=1_000)] = ""


@runtime_checkable
class Member(Protocol):
    """What a pool holds, a health checker asks and a supervisor restarts."""

    @property
    def id(self) -> str:
        """Its name in the pool; never changes."""
        ...

    @property
    def info(self) -> WorkerInfo:
        """Who it is and what it can do."""
        ...

    @property
    def status(self) -> WorkerStatus:
        """Where it is in life."""
        ...

    @property
    def load(self) -> int:
        """Slots in use."""
        ...

    @property
    def metrics(self) -> WorkerMetrics:
        """How it has been doing."""
        ...

    async def start(self) -> None:
        """Become ready. A start that is cancelled, or ended by `fail` or `stop`, has failed.

        Raises WorkerError: worker_start_failed, or illegal_transition unless it may start now, and in this event loop.
        """
        ...

    async def drain(self) -> None:
        """Take nothing new from now on; return when nothing runs. One that is not at work just waits for that."""
        ...

    async def stop(self, grace_s: float = 0.0) -> None:
        """Drain for at most so long, end a start and what still runs, and stop. One that has stopped stays so.

        A cancellation while it drains leaves it draining; later it ends the call alone, and the stop goes on.
        Raises WorkerError: worker_stop_failed, or invalid_configuration for a grace time that is none.
        """
        ...

    async def health(self) -> WorkerHealth:
        """Ask it how it is. Any exception means that it is not well."""
        ...

    def update(self, info: WorkerInfo) -> None:
        """Change weight, tags, metadata or capacity. Raises WorkerError (invalid_configuration) for id or kind."""
        ...

    def fail(self, reason: str) -> None:
        """Declare it failed: a start ends, and what it runs ends with worker_lost.

        Does nothing unless it starts or is at work, nor once a stop has begun to end it.
        """
        ...

    def watch(self, watcher: Callable[["Member"], None]) -> Callable[[], None]:
        """Call back after every change of status, load, metrics or info. Returns what ends the watching."""
        ...


class Worker(Member, Protocol):
    """A member that executes tasks."""

    async def execute(self, task: Task[In, Out], value: In) -> Out:
        """Execute the task in one slot; the load has risen when the call first suspends.

        A cancellation ends the call at once. Work that cannot be ended keeps its slot as long as it goes on.

        Raises:
            WorkerError: worker_not_ready, worker_at_capacity, worker_lost, task_failed (the work's exception is the
                cause), task_cancelled (by the work itself), invalid_configuration (work or input cannot be sent).
        """
        ...
