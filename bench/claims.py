"""What compares several scenarios of one run with each other."""

from collections.abc import Callable
from dataclasses import dataclass

from pydantic import JsonValue

from bench.checks.verdict import verdict
from bench.report.text import plain
from bench.results import Check, Metrics, ScenarioResult

Judgement = Callable[[Metrics, Metrics], tuple[bool, JsonValue]]


@dataclass(frozen=True)
class Comparison:
    """A promise about two scenarios."""

    name: str
    scenario: str
    against: str
    expected: str
    judge: Judgement


def _fairer(this: Metrics, that: Metrics) -> tuple[bool, JsonValue]:
    if this.jain is None or that.jain is None:
        return False, f"{plain(this.jain)} against {plain(that.jain)}"
    return this.jain >= that.jain + 0.15, f"{this.jain:.3f} against {that.jain:.3f}"


def _as_fast(this: Metrics, that: Metrics) -> tuple[bool, JsonValue]:
    if not this.throughput_per_s or not that.throughput_per_s:
        return False, f"{plain(this.throughput_per_s)} against {plain(that.throughput_per_s)}"
    ratio = this.throughput_per_s / that.throughput_per_s
    return ratio >= 0.85, f"{this.throughput_per_s:.1f} against {that.throughput_per_s:.1f} per s: {ratio:.2f}"


def _starves_less(this: Metrics, that: Metrics) -> tuple[bool, JsonValue]:
    if not this.tenants or not that.tenants:
        return False, None
    here = sum(each.starvation_windows for each in this.tenants.values())
    there = sum(each.starvation_windows for each in that.tenants.values())
    return here < there, f"{here} against {there}"


def _comparisons(scenario: str) -> tuple[Comparison, ...]:
    return (
        Comparison(f"{scenario} is fairer than baseline", scenario, "baseline", "Jain ≥ baseline + 0.15", _fairer),
        Comparison(f"{scenario} keeps the throughput", scenario, "baseline", "throughput ≥ 0.85 × baseline", _as_fast),
        Comparison(
            f"{scenario} starves less", scenario, "baseline", "fewer starvation windows than baseline", _starves_less
        ),
    )


COMPARISONS = (*_comparisons("fair"), *_comparisons("single-worker"))


def judge(scenarios: list[ScenarioResult]) -> list[Check]:
    """Judge every comparison whose scenarios both ran."""
    metrics = {each.name: each.metrics for each in scenarios}
    checks = []
    for each in COMPARISONS:
        if each.scenario in metrics and each.against in metrics:
            passed, observed = each.judge(metrics[each.scenario], metrics[each.against])
            checks.append(verdict(each.name, passed, observed, each.expected))
    return checks


def skipped(scenarios: list[ScenarioResult]) -> list[str]:
    """Name the comparisons that could not be made because only one of their scenarios ran."""
    ran = {each.name for each in scenarios}
    return [
        f"{each.name}: {each.against} did not run"
        for each in COMPARISONS
        if each.scenario in ran and each.against not in ran
    ]
