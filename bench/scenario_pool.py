"""Scenarios about a pool of workers by itself: who gets the next task, and what becomes of workers that fail."""

from dataclasses import asdict, dataclass
from enum import StrEnum

from pydantic import JsonValue

from bench.scenario import Scenario
from fairlane.config.workers import HealthConfig, ManagerConfig, SupervisorConfig
from fairlane.workers import WorkerInfo


@dataclass(frozen=True, kw_only=True)
class CrewMember:
    """A worker: what it can do at once, and how long each task takes there."""

    id: str
    capacity: int
    weight: int = 1
    takes_ms: int
    slowed_ms: int | None = None
    """How long a task takes once the worker has slowed down; None: it never does."""

    def info(self) -> WorkerInfo:
        """Return it as the pool knows it."""
        return WorkerInfo.of(id=self.id, kind="bench", capacity=self.capacity, weight=self.weight)


class ContestName(StrEnum):
    """What the strategies of a contest are compared in."""

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
    """Strategies side by side at the same time, each with the same tasks and with workers of its own."""

    name: ContestName
    crew: tuple[CrewMember, ...]
    callers: int
    """Each assigns its next task when it has the result of the one before."""
    entrants: tuple[Entrant, ...]
    slows_after: int | None = None
    """So many tasks have begun when workers slow down."""


@dataclass(frozen=True, kw_only=True)
class StrategiesScenario(Scenario):
    """Contests between strategies, one after the other."""

    tasks: int
    """Of each strategy in each contest."""
    lengths: tuple[float, ...]
    """Task i takes the i-th of these times as long as tasks take on its worker, counted in a circle."""
    contests: tuple[Contest, ...]

    def settings(self) -> dict[str, JsonValue]:
        """Return tasks and contests."""
        return {
            "tasks": self.tasks,
            "lengths": list(self.lengths),
            "contests": [
                asdict(each)
                | {"crew": [asdict(one) for one in each.crew], "entrants": [asdict(one) for one in each.entrants]}
                for each in self.contests
            ],
        }


@dataclass(frozen=True, kw_only=True)
class HealthScenario(Scenario):
    """Tasks go on while one worker falls ill, and after it another one's health check hangs.

    The ill one says so. The hanging check ignores that it is cancelled. What runs on either of them at that time does
    not end.
    """

    crew: tuple[CrewMember, ...]
    ill: str
    stuck: str
    stuck_ms: int
    callers: int
    health: HealthConfig
    supervisor: SupervisorConfig
    retries: int
    tasks_before: int
    """Every worker has done so many when the trouble begins."""
    tasks_after: int
    """A worker that is back has done so many more when the scenario goes on."""

    @property
    def bystanders(self) -> tuple[str, ...]:
        """Workers that nothing happens to."""
        return tuple(each.id for each in self.crew if each.id not in {self.ill, self.stuck})

    def config(self) -> ManagerConfig:
        """Return how the pool is managed."""
        return ManagerConfig(
            strategy="least-busy",
            retries=self.retries,
            backoff_base_ms=5,
            backoff_cap_ms=20,
            health=self.health,
            supervisor=self.supervisor,
        )

    def settings(self) -> dict[str, JsonValue]:
        """Return workers, troubles and how the pool is managed."""
        return {
            "crew": [asdict(each) for each in self.crew],
            "ill": self.ill,
            "stuck": self.stuck,
            "stuck_ms": self.stuck_ms,
            "callers": self.callers,
            "manager": self.config().model_dump(mode="json"),
            "tasks_before": self.tasks_before,
            "tasks_after": self.tasks_after,
        }
