"""The member contract: what a group holds, a health checker checks and a supervisor restarts."""

from collections.abc import Callable, Mapping
from typing import Annotated, Protocol, runtime_checkable

from pydantic import Field

from fairlane.domain.limits import MAX_SLOTS, MAX_WEIGHT
from fairlane.workers.members.metrics import WorkerMetrics
from fairlane.workers.members.status import WorkerStatus
from fairlane.workers.validation import ValidatedModel

_Id = Annotated[str, Field(strict=True, pattern=r"^[A-Za-z0-9][A-Za-z0-9._@-]{0,199}$")]
_Text = Annotated[str, Field(strict=True, min_length=1, max_length=200)]


class WorkerInfo(ValidatedModel):
    """A worker's identity and abilities."""

    id: _Id
    kind: _Text
    """The transport, such as ``local``. Metrics are kept by kind, so there should be few."""
    capacity: Annotated[int, Field(strict=True, ge=1, le=MAX_SLOTS)]
    """Tasks it executes at once."""
    weight: Annotated[int, Field(strict=True, ge=1, le=MAX_WEIGHT)] = 1
    """Its share under a weighted strategy."""
    tags: frozenset[_Text] = frozenset()
    metadata: Mapping[str, str] = {}


class WorkerHealth(ValidatedModel):
    """A worker's own answer to a health check. ``detail`` is for people."""

    healthy: Annotated[bool, Field(strict=True)]
    detail: Annotated[str, Field(strict=True, max_length=1_000)] = ""


@runtime_checkable
class Member(Protocol):
    """A thing with a life, a health and a number of slots."""

    @property
    def id(self) -> str:
        """Its name in the group; never changes."""
        ...

    @property
    def info(self) -> WorkerInfo:
        """Its identity and abilities."""
        ...

    @property
    def status(self) -> WorkerStatus:
        """Its stage of life."""
        ...

    @property
    def load(self) -> int:
        """Slots in use."""
        ...

    @property
    def metrics(self) -> WorkerMetrics:
        """The outcomes of its attempts so far."""
        ...

    async def start(self) -> None:
        """Become ready. A start that is cancelled, or ended by `fail` or `stop`, has failed.

        Raises WorkerError: worker_start_failed; illegal_transition: it cannot start now, or not in this event loop.
        """
        ...

    async def drain(self) -> None:
        """Accept nothing new, and return when nothing runs. In a status other than ready or busy: only wait."""
        ...

    async def stop(self, grace_s: float = 0.0) -> None:
        """Drain for at most ``grace_s``, abort a start and what still runs, and stop. Does nothing once stopped.

        A cancellation while it drains leaves it draining. A later one ends only the call; the stop continues.
        Raises WorkerError: worker_stop_failed; invalid_configuration: ``grace_s`` cannot be used.
        """
        ...

    async def health(self) -> WorkerHealth:
        """Check it. Any exception means that it is unhealthy."""
        ...

    def update(self, info: WorkerInfo) -> None:
        """Change weight, tags, metadata or capacity. Raises WorkerError (invalid_configuration) for id or kind."""
        ...

    def fail(self, reason: str) -> None:
        """Declare the member failed: a start is aborted, and its running tasks end with worker_lost.

        Does nothing unless it is starting or at work, nor once a stop has begun to end it.
        """
        ...

    def watch(self, watcher: Callable[["Member"], None]) -> Callable[[], None]:
        """Call back after every change of status, load, metrics or info. Returns a function that ends this."""
        ...
