"""The parameters of a fairness scenario: what each tenant sends, within which limits, for how long."""

import random
from dataclasses import asdict, dataclass, field, replace
from typing import Self

from pydantic import JsonValue

from bench.shared.scenario import Scenario
from bench.shared.session import Arrival
from fairlane.config import ControllerConfig, DispatcherConfig, PoolConfig, TenantConfig


@dataclass(frozen=True, kw_only=True)
class TenantLoad:
    """One tenant, with a task at every interval, all of the same length and cost. None: no own ceiling."""

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


@dataclass(frozen=True, kw_only=True)
class FairnessScenario(Scenario):
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

    def with_workers(self, count: int) -> Self:
        """See ``Scenario``."""
        return replace(self, worker_count=count) if self.any_worker_count else self
