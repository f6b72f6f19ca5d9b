"""Scenarios as data: who sends what, within which limits, for how long, and what must come out.

A scenario holds no program: how a kind of scenario is driven is in ``bench.driving``, what is measured in
``bench.measures``, what is promised in its checks.
"""

import random
from dataclasses import asdict, dataclass, field
from typing import Protocol

from pydantic import JsonValue

from bench.results import Check, Metrics
from fairlane.config import ControllerConfig, DispatcherConfig, PoolConfig, TenantConfig


class CheckSpec(Protocol):
    """A promise with its parameters. Frozen data that can judge one scenario's metrics."""

    def judge(self, scenario: "Scenario", metrics: Metrics) -> Check:
        """Compare what was measured with what is promised. What could not be measured has not passed."""
        ...


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """What every kind of scenario has. ``quick``: it belongs to the subset for CI."""

    name: str
    group: str
    title: str
    claim: str
    checks: tuple[CheckSpec, ...]
    quick: bool = False

    def settings(self) -> dict[str, JsonValue]:
        """Return the parameters that make the scenario what it is, for the results file."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class TenantLoad:
    """One tenant: a task every so often, each of the same length and cost. None: no ceiling of its own."""

    id: str
    weight: int
    every_ms: int
    takes_ms: int
    cost: int
    priority: int
    slots: int | None
    cost_ceiling: int | None

    def config(self) -> TenantConfig:
        """Return how the tenant is registered."""
        return TenantConfig(weight=self.weight, slots=self.slots, cost_ceiling_units=self.cost_ceiling)


@dataclass(frozen=True, kw_only=True)
class Timing:
    """When things happen, in milliseconds since the clock started."""

    run_ms: int = 4_500
    submit_until_ms: int = 4_100
    observe_from_ms: int = 1_000
    observe_until_ms: int = 4_000
    sample_ms: int = 100
    slice_ms: int = 500
    """Length of a starvation window."""
    orphan_ms: int = 250

    @property
    def observed_ms(self) -> int:
        """Length of the observation window."""
        return self.observe_until_ms - self.observe_from_ms


@dataclass(frozen=True, kw_only=True)
class ProviderLimits:
    """How many calls the simulated provider takes at once: (from this millisecond, this many), ascending."""

    schedule: tuple[tuple[int, int], ...]
    retry_after_ms: int = 20


@dataclass(frozen=True)
class Arrival:
    """One task to submit."""

    at_ms: int
    tenant: str
    task_id: str
    takes_ms: int
    cost: int
    priority: int


@dataclass(frozen=True, kw_only=True)
class LoadScenario(Scenario):
    """Tenants submit against the clock while the pool serves them."""

    tenants: tuple[TenantLoad, ...]
    pool: PoolConfig
    worker_count: int = 2
    worker_slots: int = 4
    timing: Timing = field(default_factory=Timing)
    provider: ProviderLimits
    controller: ControllerConfig = field(default_factory=lambda: ControllerConfig(enabled=False))
    dispatcher: DispatcherConfig = field(default_factory=DispatcherConfig)
    any_worker_count: bool = True
    """``--workers`` may change the number of workers."""

    def arrivals(self, seed: int) -> list[Arrival]:
        """Return what is submitted when. The seed shifts each tenant's first arrival within its period."""
        arrivals = []
        for load in sorted(self.tenants, key=lambda each: each.id):
            phase = random.Random(f"{seed}:{load.id}").randrange(load.every_ms)  # noqa: S311 - a schedule
            for number, at_ms in enumerate(range(phase, self.timing.submit_until_ms, load.every_ms)):
                arrivals.append(
                    Arrival(at_ms, load.id, f"{load.id}-{number:04}", load.takes_ms, load.cost, load.priority)
                )
        arrivals.sort(key=lambda each: (each.at_ms, each.tenant))
        return arrivals

    def settings(self) -> dict[str, JsonValue]:
        """Return tenants, limits, timing and provider."""
        return {
            "tenants": [asdict(load) for load in self.tenants],
            "pool": self.pool.model_dump(mode="json"),
            "workers": self.worker_count,
            "worker_slots": self.worker_slots,
            "timing": asdict(self.timing),
            "provider": {
                "schedule": [list(step) for step in self.provider.schedule],
                "retry_after_ms": self.provider.retry_after_ms,
            },
            "controller": self.controller.model_dump(mode="json"),
        }


@dataclass(frozen=True, kw_only=True)
class RaceScenario(Scenario):
    """Controllers that decide at the same instant: the naive way, then the product, once per crowd size."""

    capacity: int
    hard_limit: int
    naive_contenders: int
    crowds: tuple[int, ...]
    controller: ControllerConfig

    def settings(self) -> dict[str, JsonValue]:
        """Return capacity, limits and crowd sizes."""
        return {
            "capacity": self.capacity,
            "hard_limit": self.hard_limit,
            "naive_contenders": self.naive_contenders,
            "crowds": list(self.crowds),
            "controller": self.controller.model_dump(mode="json"),
        }


@dataclass(frozen=True, kw_only=True)
class ThroughputScenario(Scenario):
    """What a decision costs: no simulated duration, events on."""

    tenant_counts: tuple[int, ...]
    tasks: int
    rounds: int
    """How often the tenant counts take turns."""
    limited_tenants: int
    """One of the tenant counts, whose load is also driven with a budget and both windows for every tenant."""
    worker_count: int
    worker_slots: int
    round_trips: int
    parked_tenants: int
    few_tenants: int
    dispatch_calls: int
    cycle_tasks: int
    batches: tuple[int, int]
    backlogs: tuple[int, ...]
    """Tasks waiting while dispatch calls are timed, ascending; each for every number of tenants."""
    backlog_calls: int
    """Of each batch in each backlog."""

    def settings(self) -> dict[str, JsonValue]:
        """Return loads and sample sizes."""
        return {
            "tenant_counts": list(self.tenant_counts),
            "tasks": self.tasks,
            "rounds": self.rounds,
            "limited_tenants": self.limited_tenants,
            "workers": self.worker_count,
            "worker_slots": self.worker_slots,
            "round_trips": self.round_trips,
            "parked_tenants": self.parked_tenants,
            "few_tenants": self.few_tenants,
            "dispatch_calls": self.dispatch_calls,
            "cycle_tasks": self.cycle_tasks,
            "batches": list(self.batches),
            "backlogs": list(self.backlogs),
            "backlog_calls": self.backlog_calls,
        }
