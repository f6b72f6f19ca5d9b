"""Scenarios about budgets, windows, throttles, and what is lost between two steps."""

from dataclasses import asdict, dataclass
from typing import Literal

from pydantic import JsonValue

from bench.scenario import Arrival, Scenario
from fairlane.config import BudgetConfig, PoolConfig, TenantConfig, WindowConfig
from fairlane.domain.policy import BudgetPolicy, ThrottleScope


@dataclass(frozen=True, kw_only=True)
class Burst:
    """One tenant's tasks, all submitted before any worker may start one, on a budget that just pays for them."""

    waves: tuple[tuple[int, int], ...]
    """(How many, priority), in the order of the tasks' numbers."""
    takes_ms: tuple[int, ...]
    """Task i takes the i-th of these, counted in a circle."""
    submitted: tuple[int, ...] = ()
    """The numbers of all tasks in the order in which they are submitted; empty: in the order of their numbers."""
    cost: int
    budget_units: int
    pool_slots: int
    worker_count: int
    worker_slots: int

    def arrivals(self, tenant: str) -> list[Arrival]:
        """Return the tasks in the order in which they are submitted."""
        priorities = [priority for count, priority in self.waves for _ in range(count)]
        return [
            Arrival(0, tenant, f"{tenant}-{i:02}", self.takes_ms[i % len(self.takes_ms)], self.cost, priorities[i])
            for i in self.submitted or range(len(priorities))
        ]

    def pool(self, window: WindowConfig | None = None) -> PoolConfig:
        """Return the pool, with a window of starts or without."""
        return PoolConfig(
            slots=self.pool_slots, quantum_units=self.cost, throttle_scope=ThrottleScope.POOL, starts=window
        )

    def tenant(self) -> TenantConfig:
        """Return how the tenant is registered."""
        return TenantConfig(budget=BudgetConfig(limit_units=self.budget_units))

    def settings(self) -> dict[str, JsonValue]:
        """Return the parameters, for the results file."""
        lists = {"takes_ms": list(self.takes_ms), "submitted": list(self.submitted)}
        return {**asdict(self), "waves": [list(each) for each in self.waves], **lists}


@dataclass(frozen=True, kw_only=True)
class BudgetRace:
    """Contenders for one budget, released together by a barrier; each wants its one task let through."""

    contenders: int
    cost: int
    budget_units: int

    def tenant(self) -> TenantConfig:
        """Return how the tenant is registered."""
        return TenantConfig(budget=BudgetConfig(limit_units=self.budget_units, when_exhausted=BudgetPolicy.REJECT))


Side = Literal["naive", "repaired"]


@dataclass(frozen=True, kw_only=True)
class BudgetScenario(Scenario):
    """The burst under a window of starts, the same without, then the race, of which ``side`` says who runs it."""

    side: Side
    burst: Burst
    window: WindowConfig
    race: BudgetRace

    def settings(self) -> dict[str, JsonValue]:
        """Return burst, window and race."""
        return {
            "side": self.side,
            "burst": self.burst.settings(),
            "window": self.window.model_dump(mode="json"),
            "race": asdict(self.race),
        }


@dataclass(frozen=True, kw_only=True)
class RequeueScenario(Scenario):
    """The burst, one task of which meets a throttle in its first attempt.

    Beside the workers there is one of a single slot that is slow on purpose: it asks for what it was handed only
    when the pause has begun.
    """

    burst: Burst
    throttled: int
    """Which task of the burst, counted from 0 in the order in which they are submitted."""
    pause_ms: int

    def settings(self) -> dict[str, JsonValue]:
        """Return burst, task and pause."""
        return {"burst": self.burst.settings(), "throttled": self.throttled, "pause_ms": self.pause_ms}


@dataclass(frozen=True, kw_only=True)
class HandoffScenario(Scenario):
    """A dispatcher is killed: the naive one between its two steps, the product's at random moments of its work."""

    kills: int
    longest_delay_ms: int
    """A kill comes within this time after the first hand-over of a new dispatcher."""
    takes_ms: int
    cost: int
    backlog: int
    """Fewer unended tasks than this are filled up by as many."""
    pool_slots: int
    worker_count: int
    worker_slots: int

    def settings(self) -> dict[str, JsonValue]:
        """Return kills, tasks and limits."""
        return {
            "kills": self.kills,
            "longest_delay_ms": self.longest_delay_ms,
            "takes_ms": self.takes_ms,
            "cost": self.cost,
            "backlog": self.backlog,
            "pool_slots": self.pool_slots,
            "workers": self.worker_count,
            "worker_slots": self.worker_slots,
        }


@dataclass(frozen=True, kw_only=True)
class BudgetRaceScenario(Scenario):
    """The race for a budget alone: the naive way, then the product, once per crowd size."""

    race: BudgetRace
    crowds: tuple[int, ...]

    def settings(self) -> dict[str, JsonValue]:
        """Return the race and the crowd sizes."""
        return {"race": asdict(self.race), "crowds": list(self.crowds)}
