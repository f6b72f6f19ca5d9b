"""The promises about what a decision costs: ratios within one run, and counts."""

from dataclasses import dataclass
from statistics import median

from bench.checks.verdict import verdict
from bench.figures_cost import ThroughputPoint
from bench.results import Check, Metrics
from bench.scenario import Scenario


def _turn_by_turn(one: ThroughputPoint | None, other: ThroughputPoint | None) -> float | None:
    """Return the median over the turns of the two rates' ratio.

    Each turn loads both, one right after the other: a machine that is slow for a while is slow for both.
    """
    if one is None or other is None or len(one.turns_per_s) != len(other.turns_per_s) or not all(other.turns_per_s):
        return None
    ratios = [mine / theirs for mine, theirs in zip(one.turns_per_s, other.turns_per_s, strict=True)]
    return median(ratios) if ratios else None


def _ratios(ours: dict[int, float | None], theirs: dict[int, float | None]) -> dict[int, float]:
    """Divide by key; a key of which either side has no figure is left out."""
    pairs = {key: (mine, theirs.get(key)) for key, mine in ours.items()}
    return {key: mine / other for key, (mine, other) in pairs.items() if mine and other}


@dataclass(frozen=True)
class FlatInTenants:
    """Many tenants cost about as much as few.

    See ``_turn_by_turn``.
    """

    few: int
    many: int
    ratio: float

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        loads = {load.tenants: load for load in metrics.loads or []}
        observed = _turn_by_turn(loads.get(self.many), loads.get(self.few))
        return verdict(
            f"throughput at {self.many:,} tenants against {self.few:,}",
            observed is not None and observed >= self.ratio,
            observed,
            f"≥ {self.ratio:g} ×",
        )


@dataclass(frozen=True)
class ParkedCostNothing:
    """A dispatch call does not care how many tenants are parked."""

    ratio: float

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        points = metrics.dispatch_calls or []
        free = {point.batch: point.p50_us for point in points if not point.parked}
        parked = {point.batch: point.p50_us for point in points if point.parked}
        ratios = _ratios(parked, free)
        passed = bool(ratios) and ratios.keys() == free.keys() and max(ratios.values()) <= self.ratio
        return verdict(
            "a dispatch call with nearly all tenants parked",
            passed,
            {f"batch of {batch}": round(ratio, 3) for batch, ratio in ratios.items()},
            f"≤ {self.ratio:g} × one with ten tenants",
        )


@dataclass(frozen=True)
class FlatInBacklog:
    """A dispatch call does not care how many tasks wait. Every longer queue is held against that of ``few``.

    See ``Backlog.ratios``.
    """

    few: int
    many: int
    batch: int
    ratio: float

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        found = {(each.tenants, each.pending): each.ratios.get(str(self.batch)) for each in metrics.backlogs or []}
        wanted = {(tenants, self.many) for tenants, pending in found if pending == self.few}
        ratios = {place: ratio for place, ratio in found.items() if place[1] > self.few}
        passed = (
            bool(wanted)
            and wanted <= ratios.keys()
            and all(ratio is not None and ratio <= self.ratio for ratio in ratios.values())
        )
        return verdict(
            f"a dispatch call of {self.batch} with a long queue",
            passed,
            {
                f"{pending:,} waiting, {tenants:,} tenants": None if ratio is None else round(ratio, 3)
                for (tenants, pending), ratio in ratios.items()
            },
            f"≤ {self.ratio:g} × one with {self.few:,} waiting",
        )


@dataclass(frozen=True)
class BatchingPays:
    """One call for many tasks is much cheaper than one call for each."""

    small: int
    large: int
    ratio: float

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        rates = metrics.batching or {}
        small, large = rates.get(str(self.small)), rates.get(str(self.large))
        observed = large / small if small and large else None
        return verdict(
            f"tasks per second in batches of {self.large} against {self.small}",
            observed is not None and observed >= self.ratio,
            observed,
            f"≥ {self.ratio:g} ×",
        )


@dataclass(frozen=True)
class FewCalls:
    """A task's whole life takes few server commands."""

    most: int

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        calls = {f"{load.tenants:,} tenants": round(load.most_calls_per_task, 2) for load in metrics.loads or []}
        passed = bool(calls) and all(0 < each <= self.most for each in calls.values())
        return verdict("server calls per task, most of any turn", passed, {**calls}, f"≤ {self.most}")


@dataclass(frozen=True)
class LimitsCostLittle:
    """A budget and both windows for every tenant slow the load down only a little."""

    ratio: float

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        limited = metrics.limited
        loads = {load.tenants: load for load in metrics.loads or []}
        observed = _turn_by_turn(limited, None if limited is None else loads.get(limited.tenants))
        return verdict(
            "throughput with budgets and windows for every tenant",
            observed is not None and observed >= self.ratio,
            observed,
            f"≥ {self.ratio:g} × without",
        )


@dataclass(frozen=True)
class LeavesNothing:
    """After drain and retention the keys are what they were, and the memory nearly so."""

    kept: float

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        left = metrics.drained
        if left is None or left.data_peak_bytes <= left.data_before_bytes or left.keys_peak <= left.keys_before:
            return verdict("nothing stays behind", False, None, "a load that shows in keys and memory, and goes")
        share = (left.data_after_bytes - left.data_before_bytes) / (left.data_peak_bytes - left.data_before_bytes)
        return verdict(
            "nothing stays behind",
            left.keys_after == left.keys_before and share <= self.kept,
            {"keys": f"{left.keys_before} → {left.keys_peak} → {left.keys_after}", "growth kept": f"{share:.1%}"},
            f"as many keys as before; at most {self.kept:.0%} of the peak growth",
        )
