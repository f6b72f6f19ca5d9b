"""The promises about the service each tenant gets, and about limits."""

from dataclasses import dataclass
from operator import attrgetter
from typing import Literal

from pydantic import JsonValue

from bench.fairness.metrics import FairnessMetrics
from bench.fairness.scenario import FairnessScenario
from bench.shared.checks import Bound, Promise, verdict
from bench.shared.metrics import POOL, Check

Figure = Bound[FairnessMetrics]
Metric = Literal["jain", "reserved_occupancy", "provider_occupancy", "throttled_then_completed"]


def _starts(metrics: FairnessMetrics) -> dict[str, int]:
    return {tenant: each.successful_starts for tenant, each in metrics.tenants.items()}


EVALUABLE = Promise[FairnessMetrics](
    "evaluable",
    lambda m: m.evaluable,
    lambda m: True if m.evaluable else {**m.evaluation_notes},
    "30 starts; every backlog ratio ≥ 0.80",
)
"""Enough starts and enough backlog for Jain's index to mean something."""

EVERY_TENANT_SERVED = Promise[FairnessMetrics](
    "every tenant served",
    lambda m: bool(m.tenants) and all(_starts(m).values()),
    lambda m: {**_starts(m)},
    "≥ 1 start each",
)

GAP_WITHIN_BOUND = Promise[FairnessMetrics](
    "service gap within bound",
    lambda m: m.service_gap is not None and m.service_gap.witness is not None and m.service_gap.holds,
    lambda m: None if m.service_gap is None else m.service_gap.largest,
    lambda m: "a gap between two backlogged tenants" if m.service_gap is None else f"≤ {m.service_gap.bound:g}",
)
"""The largest service gap between two backlogged tenants respects the theorem's bound."""

THROTTLED = Figure("throttled attempts appear", lambda m: m.attempt_states.get("throttled", 0), at_least=1)


def at_least(metric: Metric, bound: float) -> Figure:
    """Bound a metric from below."""
    return Figure(f"{metric} at least {bound:g}", attrgetter(metric), at_least=bound)


def provider_peak(slots: int) -> Figure:
    """The provider itself never meets more calls at once than the pool has slots, refused ones included."""
    name = "calls at once, by the provider's count"
    return Figure(name, lambda m: m.provider_peak, at_least=1, at_most=slots, expected=f"1…{slots}")


def dominates(tenant: str) -> Promise[FairnessMetrics]:
    """One tenant gets more starts than all others together."""
    return Promise(
        f"{tenant} dominates",
        lambda m: 2 * _starts(m).get(tenant, 0) > sum(_starts(m).values()),
        lambda m: {**_starts(m)},
        f"{tenant}: more starts than all others together",
    )


def starved(*tenants: str) -> Promise[FairnessMetrics]:
    """Each of these tenants has windows in which it waits and starts nothing."""

    def windows(metrics: FairnessMetrics) -> dict[str, int]:
        return {name: metrics.tenants[name].starvation_windows for name in tenants if name in metrics.tenants}

    return Promise(
        "starvation shows",
        lambda m: len(windows(m)) == len(tenants) and all(windows(m).values()),
        lambda m: {**windows(m)},
        "at least one starvation window each",
    )


def capacity_moves(lowest: int, highest: int) -> Promise[FairnessMetrics]:
    """The controller backs off and comes back, one slot at a time, within its limits."""

    def holds(metrics: FairnessMetrics) -> bool:
        moves = [(each.before, each.after) for each in metrics.controller_events]
        steps_up = [after - before for before, after in moves if after > before]
        return (
            any(after < before for before, after in moves)
            and bool(steps_up)
            and all(step == 1 for step in steps_up)
            and all(lowest <= value <= highest for move in moves for value in move)
        )

    return Promise(
        "capacity backs off and recovers",
        holds,
        lambda m: [f"{each.before}→{each.after}" for each in m.controller_events],
        f"≥ 1 decrease, ≥ 1 recovery, each recovery +1, all within {lowest}…{highest}",
    )


@dataclass(frozen=True)
class SharesNearIdeal:
    """Each tenant's share of the service is close to its share under a perfect scheduler."""

    within: float
    name: str = "service share near ideal"

    def judge(self, scenario: FairnessScenario, metrics: FairnessMetrics) -> Check:
        """See ``CheckSpec``."""
        del scenario
        observed: dict[str, JsonValue] = {}
        passed = bool(metrics.tenants)
        for tenant, each in metrics.tenants.items():
            if each.service_share is None or not each.ideal_share:
                passed, observed[tenant] = False, None
                continue
            off = each.service_share / each.ideal_share - 1
            observed[tenant] = f"{each.service_share:.4f} of {each.ideal_share:.4f} ({off:+.1%})"
            passed = passed and abs(off) <= self.within
        return verdict(self.name, passed, observed, f"each within {self.within:.0%} of its ideal")


@dataclass(frozen=True)
class PeaksWithinLimits:
    """At no instant does the pool or a tenant hold more than its limits."""

    name: str = "peaks within every ceiling"

    def judge(self, scenario: FairnessScenario, metrics: FairnessMetrics) -> Check:
        """See ``CheckSpec``."""
        slots, cost = metrics.peak_reserved_slots, metrics.peak_reserved_cost
        limits: list[tuple[str, dict[str, int], str, int]] = [
            ("slots", slots, POOL, scenario.pool.slots),
            ("active", metrics.peak_active_slots, POOL, scenario.pool.slots),
        ]
        for load in scenario.tenants:
            if load.slots is not None:
                limits.append(("slots", slots, load.id, load.slots))
            if load.cost_ceiling is not None:
                limits.append(("cost", cost, load.id, load.cost_ceiling))
        observed: dict[str, JsonValue] = {
            f"{'pool' if holder == POOL else holder} {what}": f"{peaks.get(holder)} of {limit}"
            for what, peaks, holder, limit in limits
        }
        passed = all(0 < peaks.get(holder, 0) <= limit for _, peaks, holder, limit in limits)
        return verdict(self.name, passed, observed, "each used, none above its limit")


@dataclass(frozen=True)
class WorkersUsed:
    """Exactly the scenario's workers start tasks."""

    name: str = "workers that worked"

    def judge(self, scenario: FairnessScenario, metrics: FairnessMetrics) -> Check:
        """See ``CheckSpec``."""
        count = scenario.worker_count
        passed = len(metrics.workers) == count
        return verdict(self.name, passed, {**metrics.workers}, f"exactly {count}, each with starts")
