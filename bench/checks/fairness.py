"""The promises about who is served, and within which limits."""

from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from bench.checks.verdict import verdict
from bench.results import POOL, Check, Metrics
from bench.scenario import LoadScenario, Scenario


@dataclass(frozen=True)
class Evaluable:
    """Enough starts and enough backlog for Jain's index to mean something."""

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        notes: JsonValue = {**(metrics.evaluation_notes or {})}
        passed = metrics.evaluable is True
        return verdict("evaluable", passed, True if passed else notes, "30 starts; every backlog ratio ≥ 0.80")


@dataclass(frozen=True)
class AtLeast:
    """A measured number reaches a bound."""

    metric: Literal["jain", "reserved_occupancy", "provider_occupancy", "throttled_then_completed"]
    bound: float

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        value: float | None = getattr(metrics, self.metric)
        name = f"{self.metric} at least {self.bound:g}"
        return verdict(name, value is not None and value >= self.bound, value, f"≥ {self.bound:g}")


@dataclass(frozen=True)
class Dominates:
    """One tenant got more starts than all others together."""

    tenant: str

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        starts = {tenant: each.successful_starts for tenant, each in (metrics.tenants or {}).items()}
        others = sum(count for tenant, count in starts.items() if tenant != self.tenant)
        passed = starts.get(self.tenant, 0) > others
        return verdict(
            f"{self.tenant} dominates", passed, {**starts}, f"{self.tenant}: more starts than all others together"
        )


@dataclass(frozen=True)
class Starved:
    """Each of these tenants had windows in which it waited and started nothing."""

    tenants: tuple[str, ...]

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        measured = metrics.tenants or {}
        windows = {name: measured[name].starvation_windows for name in self.tenants if name in measured}
        passed = len(windows) == len(self.tenants) and all(windows.values())
        return verdict("starvation shows", passed, {**windows}, "at least one starvation window each")


@dataclass(frozen=True)
class EveryTenantServed:
    """No tenant went without a successful start."""

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        starts = {tenant: each.successful_starts for tenant, each in (metrics.tenants or {}).items()}
        return verdict("every tenant served", bool(starts) and all(starts.values()), {**starts}, "≥ 1 start each")


@dataclass(frozen=True)
class PeaksWithinLimits:
    """At no instant did the pool or a tenant hold more than its limits."""

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        if not isinstance(scenario, LoadScenario):
            raise TypeError(f"{scenario.name} has no ceilings")
        slots, cost = metrics.peak_reserved_slots or {}, metrics.peak_reserved_cost or {}
        active = metrics.peak_active_slots or {}
        limits: list[tuple[str, dict[str, int], str, int]] = [
            ("slots", slots, POOL, scenario.pool.slots),
            ("active", active, POOL, scenario.pool.slots),
        ]
        for load in scenario.tenants:
            if load.slots is not None:
                limits.append(("slots", slots, load.id, load.slots))
            if load.cost_ceiling is not None:
                limits.append(("cost", cost, load.id, load.cost_ceiling))
        observed = {
            f"{'pool' if who == POOL else who} {what}": f"{peaks.get(who)} of {limit}"
            for what, peaks, who, limit in limits
        }
        passed = all(0 < peaks.get(who, 0) <= limit for _, peaks, who, limit in limits)
        return verdict("peaks within every ceiling", passed, {**observed}, "each used, none above its limit")


@dataclass(frozen=True)
class WorkersUsed:
    """Exactly as many workers as there are started tasks."""

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        if not isinstance(scenario, LoadScenario):
            raise TypeError(f"{scenario.name} has no workers")
        count = scenario.worker_count
        workers = metrics.workers or {}
        return verdict("workers that worked", len(workers) == count, {**workers}, f"exactly {count}, each with starts")


@dataclass(frozen=True)
class NothingLeft:
    """No attempt hangs between its reservation and its start, and nothing stays held after the end."""

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        left, orphans = metrics.left_in_flight, metrics.potential_orphans
        passed = orphans == [] and left is not None and not any(left.values())
        return verdict(
            "no orphans, nothing held",
            passed,
            {"orphans": [*(orphans or [])], **(left or {})},
            "0 orphans; 0 slots and 0 cost left",
        )


@dataclass(frozen=True)
class InvariantsHold:
    """An audit of all that is stored after the run finds nothing wrong."""

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        found = metrics.violations
        shown: JsonValue = None if found is None else [*found[:3]]
        return verdict("audit of the stored state", found == [], shown, "no violation")


@dataclass(frozen=True)
class SharesNearIdeal:
    """Each tenant's share of the service is close to what a perfect scheduler would give it."""

    within: float

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        observed: dict[str, JsonValue] = {}
        passed = bool(metrics.tenants)
        for tenant, each in (metrics.tenants or {}).items():
            if each.service_share is None or not each.ideal_share:
                passed, observed[tenant] = False, None
                continue
            off = each.service_share / each.ideal_share - 1
            observed[tenant] = f"{each.service_share:.4f} of {each.ideal_share:.4f} ({off:+.1%})"
            passed = passed and abs(off) <= self.within
        return verdict("service share near ideal", passed, observed, f"each within {self.within:.0%} of its ideal")


@dataclass(frozen=True)
class GapWithinBound:
    """The largest service gap between two backlogged tenants respects the theorem's bound."""

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        gap = metrics.service_gap
        if gap is None or gap.witness is None:
            return verdict("service gap within bound", False, None, "a gap between two backlogged tenants")
        return verdict("service gap within bound", gap.largest <= gap.bound, gap.largest, f"≤ {gap.bound:g}")


@dataclass(frozen=True)
class CapacityMoves:
    """The controller backed off and came back, one slot at a time, within its limits."""

    lowest: int
    highest: int

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        moves = [(each.before, each.after) for each in metrics.controller_events or []]
        down = [move for move in moves if move[1] < move[0]]
        up = [move for move in moves if move[1] > move[0]]
        inside = all(self.lowest <= value <= self.highest for move in moves for value in move)
        passed = bool(down) and bool(up) and inside and all(after - before == 1 for before, after in up)
        return verdict(
            "capacity backs off and recovers",
            passed,
            [f"{before}→{after}" for before, after in moves],
            f"≥ 1 decrease, ≥ 1 recovery, each recovery +1, all within {self.lowest}…{self.highest}",
        )


@dataclass(frozen=True)
class Throttled:
    """The provider did throttle."""

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        count = (metrics.attempt_states or {}).get("throttled", 0)
        return verdict("throttled attempts appear", count > 0, count, "≥ 1")


@dataclass(frozen=True)
class ProviderSaw:
    """The provider itself never met more calls at once than the pool has slots, refused ones included."""

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        if not isinstance(scenario, LoadScenario):
            raise TypeError(f"{scenario.name} has no provider")
        limit, peak = scenario.pool.slots, metrics.provider_peak
        return verdict(
            "calls at once, by the provider's count", peak is not None and 0 < peak <= limit, peak, f"1…{limit}"
        )
