"""The parameters of the scenarios about workers: strategies that choose between them, and workers that fail."""

from dataclasses import asdict, dataclass
from enum import StrEnum

from pydantic import JsonValue

from bench.shared.scenario import Scenario
from fairlane.config.workers import HealthConfig, ManagerConfig, SupervisorConfig
from fairlane.workers import WorkerInfo


@dataclass(frozen=True, kw_only=True)
class WorkerSpec:
    """A worker: how many tasks it runs at once, and how long each takes there."""

    id: str
    capacity: int
    weight: int = 1
    takes_ms: int
    slowed_ms: int | None = None
    """How long a task takes once the worker has slowed down; None: it never does."""

    def info(self) -> WorkerInfo:
        """Return the facts a worker group has of it."""
        return WorkerInfo.of(id=self.id, kind="bench", capacity=self.capacity, weight=self.weight)


class ContestName(StrEnum):
    """The property that a contest compares strategies by."""

    SPREAD = "spread"
    """Slots never bind."""
    WEIGHTS = "weights"
    """Slots never bind."""
    MAKESPAN = "makespan"
    """Slots bind."""
    SLOWDOWN = "slowdown"
    """A worker slows down in the middle."""


@dataclass(frozen=True, kw_only=True)
class Entrant:
    """A strategy. Its seed is the run's, plus ``stream``."""

    strategy: str
    stream: int = 0

    def config(self) -> ManagerConfig:
        """Return a manager that does nothing but assign."""
        return ManagerConfig(strategy=self.strategy, retries=0, health=None, supervisor=None)


@dataclass(frozen=True, kw_only=True)
class Contest:
    """Strategies side by side at the same time, each with the same tasks and with its own workers."""

    name: ContestName
    workers: tuple[WorkerSpec, ...]
    callers: int
    """Each assigns its next task when it has the result of the previous one."""
    entrants: tuple[Entrant, ...]
    slows_after: int | None = None
    """The number of tasks that have begun when workers slow down."""


@dataclass(frozen=True, kw_only=True)
class StrategiesScenario(Scenario):
    """Contests between strategies, one after the other."""

    tasks: int
    """Of each strategy in each contest."""
    lengths: tuple[float, ...]
    """Task i takes this factor times its worker's usual time: the i-th, counted in a circle."""
    contests: tuple[Contest, ...]

    def settings(self) -> dict[str, JsonValue]:
        """Return tasks and contests."""
        return {
            "tasks": self.tasks,
            "lengths": list(self.lengths),
            "contests": [
                {
                    "name": each.name,
                    "crew": [asdict(worker) for worker in each.workers],
                    "callers": each.callers,
                    "entrants": [asdict(entrant) for entrant in each.entrants],
                    "slows_after": each.slows_after,
                }
                for each in self.contests
            ],
        }


@dataclass(frozen=True, kw_only=True)
class HealthScenario(Scenario):
    """Callers keep assigning tasks while one worker becomes unhealthy, and then another one's health check hangs.

    The ill worker reports it. The hanging check ignores its cancellation. Tasks that run on either of them at that
    time do not end.
    """

    workers: tuple[WorkerSpec, ...]
    ill: str
    stuck: str
    stuck_ms: int
    callers: int
    health: HealthConfig
    supervisor: SupervisorConfig
    retries: int
    tasks_before: int
    """The number of tasks that every worker has completed when the trouble begins."""
    tasks_after: int
    """The number of further tasks that a returned worker has completed when the scenario continues."""

    @property
    def bystanders(self) -> tuple[str, ...]:
        """Workers that stay healthy."""
        return tuple(each.id for each in self.workers if each.id not in {self.ill, self.stuck})

    def config(self) -> ManagerConfig:
        """Return the settings of the workers' manager."""
        return ManagerConfig(
            strategy="least-busy",
            retries=self.retries,
            backoff_base_ms=5,
            backoff_cap_ms=20,
            health=self.health,
            supervisor=self.supervisor,
        )

    def settings(self) -> dict[str, JsonValue]:
        """Return workers, troubles and the settings of their manager."""
        return {
            "crew": [asdict(each) for each in self.workers],
            "ill": self.ill,
            "stuck": self.stuck,
            "stuck_ms": self.stuck_ms,
            "callers": self.callers,
            "manager": self.config().model_dump(mode="json"),
            "tasks_before": self.tasks_before,
            "tasks_after": self.tasks_after,
        }
