"""The parts of the reference world: tasks, workers, and the store calls that must have the same effect."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from fairlane.domain.task import TaskRef

T = TypeVar("T")

MAX_ATTEMPTS: Final = 3
MAX_RECOVERIES: Final = 1
DEFAULT_PAUSE_MS: Final = 20
SHORTEST_PAUSE_MS: Final = 10
HARD_LIMIT: Final = 8192
WORKER_SLOTS: Final = 8192
FEWEST_TENANTS: Final = 2
MOST_TENANTS: Final = 8
QUEUE_LIMIT: Final = 10_000

WAITING, PENDING, ENQUEUED, ACTIVE = "waiting", "pending", "enqueued", "active"


@dataclass
class Task:
    """A live task and its state. Waiting: outside its queue until `ready_at`."""

    number: int
    tenant: int
    cost: int
    state: str = PENDING
    fence: int = 0
    charge: int = 0
    incarnation: str = ""
    failures: int = 0
    recoveries: int = 0
    throttles: int = 0
    stopping: bool = False
    ready_at: int = 0

    @property
    def ref(self) -> TaskRef:
        return TaskRef(tenant_id(self.tenant), f"task-{self.number}")

    @property
    def in_last_life(self) -> bool:
        """One more lost worker would make the task dead, so it runs alone."""
        return self.recoveries >= MAX_RECOVERIES


@dataclass
class Worker:
    """A worker's name, its present life, and the highest fence it has received."""

    name: str
    life: int = 1
    cursor: int = 0
    share: int = 0
    """What it takes of its own accord at most; 0: any number."""

    @property
    def incarnation(self) -> str:
        return f"{self.name}-{self.life}"


@dataclass(frozen=True)
class Call:
    """A store call, and the value that `view` of its answer must return, or the error that it must raise."""

    method: str
    arguments: tuple[Any, ...]
    expected: object
    view: Callable[[Any], object] = lambda answer: answer


def tenant_id(index: int) -> str:
    """Name a tenant so that names sort like their indices."""
    return f"t{index:04d}"


def picked(candidates: Sequence[T], pick: int) -> list[T]:
    """Return the candidate that a pick selects, as a list; empty if there are no candidates."""
    return [candidates[pick % len(candidates)]] if candidates else []


def picked_apart(candidates: Sequence[T], picks: Sequence[int]) -> list[T]:
    """Return a different candidate for each pick, as long as there are candidates."""
    left = list(candidates)
    return [left.pop(pick % len(left)) for pick in picks if left]
