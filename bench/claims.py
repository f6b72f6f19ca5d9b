"""Judges the comparisons between scenarios of one run."""

from bench.kinds import KINDS
from bench.results import ScenarioResult
from bench.shared.checks import verdict
from bench.shared.metrics import Check

_COMPARISONS = [(each, kind.metrics) for kind in KINDS for each in kind.comparisons]


def judge(scenarios: list[ScenarioResult]) -> list[Check]:
    """Judge every comparison whose scenarios both ran. A scenario that measured nothing fails it."""
    found = {each.name: each.metrics for each in scenarios}
    checks = []
    for each, metrics in _COMPARISONS:
        if each.scenario in found and each.against in found:
            this, that = found[each.scenario], found[each.against]
            measured = isinstance(this, metrics) and isinstance(that, metrics)
            passed, observed = each.judge(this, that) if measured else (False, None)
            checks.append(verdict(each.name, passed, observed, each.expected))
    return checks


def skipped(scenarios: list[ScenarioResult]) -> list[str]:
    """Name the comparisons that could not be made because only one of their scenarios ran."""
    ran = {each.name for each in scenarios}
    return [
        f"{each.name}: {each.against} did not run"
        for each, _ in _COMPARISONS
        if each.scenario in ran and each.against not in ran
    ]
