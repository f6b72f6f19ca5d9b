"""The scenario of the cost of a decision: loads, single calls and queues, and how often each is measured."""

from dataclasses import dataclass, replace
from typing import Self

from pydantic import JsonValue

from bench.shared.scenario import Scenario
from bench.throughput.checks import (
    batching_pays,
    few_calls,
    flat_in_backlog,
    flat_in_tenants,
    leaves_nothing,
    limits_cost_little,
    parked_cost_nothing,
)


@dataclass(frozen=True, kw_only=True)
class ThroughputScenario(Scenario):
    """The cost of a decision: no simulated duration, events on."""

    tenant_counts: tuple[int, ...]
    tasks: int
    rounds: int
    """How often ``limited_tenants`` are loaded, without limits and with them."""
    others_every: int
    """The other tenant counts take their turns in every such round; odd, so that their order changes, too."""
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
    """Tasks waiting while dispatch calls are timed, ascending; each for every number of tenants, and at least two of
    each tenant."""
    backlog_calls: int
    """Of each batch in each backlog."""

    def backlogs_of(self, tenants: int) -> tuple[int, ...]:
        """Return how many tasks wait, ascending, for so many tenants."""
        return tuple(sorted({max(pending, 2 * tenants) for pending in self.backlogs}))

    def settings(self) -> dict[str, JsonValue]:
        """Return loads and sample sizes."""
        return {
            "tenant_counts": list(self.tenant_counts),
            "tasks": self.tasks,
            "rounds": self.rounds,
            "others_every": self.others_every,
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

    def brief(self) -> Self:
        """See ``Scenario``."""
        return replace(
            self,
            tasks=250,
            rounds=71,
            others_every=3,
            round_trips=60,
            dispatch_calls=100,
            cycle_tasks=512,
            backlog_calls=40,
        )

    def with_workers(self, count: int) -> Self:
        """See ``Scenario``."""
        return replace(self, worker_count=count)

    def with_backlog(self, pending: int) -> Self:
        """See ``Scenario``."""
        return replace(self, backlogs=(*self.backlogs, pending))


THROUGHPUT = ThroughputScenario(
    name="throughput",
    group="throughput",
    title="What a decision costs",
    claim="A decision costs about the same with a hundred tenants and with ten thousand, with a thousand tasks "
    "waiting and with a hundred thousand; a parked tenant costs nothing.",
    reading="Absolute speeds depend on the machine and on what else it does: a speed is the median of all turns, "
    "beside the fastest, which was disturbed least, and the checks are ratios within this run and counts. "
    "From 100 tenants to 10,000 the speed must stay, and that is checked. Three tenants cost less, and that "
    "is not promised to anybody else: a batch of some sixty tasks then reads and writes the records of three "
    "tenants instead of one for nearly each of its tasks (see the calls of `hmget` and `hset`). The loads "
    "hold a queue only for as long as they last; what a standing queue costs is timed call by call, without "
    "workers. There, at least two tasks of each tenant wait: a tenant with a single task has no queue to read, "
    "so that its turn costs less.",
    tenant_counts=(3, 100, 10_000),
    tasks=4_000,
    rounds=31,
    others_every=1,
    limited_tenants=100,
    worker_count=2,
    worker_slots=256,
    round_trips=300,
    parked_tenants=9_990,
    few_tenants=10,
    dispatch_calls=200,
    cycle_tasks=2_048,
    batches=(1, 64),
    backlogs=(1_000, 100_000),
    backlog_calls=100,
    checks=(
        flat_in_tenants(100, 10_000, at_least=0.85),
        parked_cost_nothing(at_most=1.5),
        flat_in_backlog(1_000, 100_000, batch=64, at_most=1.5),
        batching_pays(1, 64, at_least=5.0),
        few_calls(at_most=25),
        limits_cost_little(at_least=0.90),
        leaves_nothing(kept=0.02),
    ),
)
