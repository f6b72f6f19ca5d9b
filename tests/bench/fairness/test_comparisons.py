"""Comparisons of scenarios with the baseline."""

import pytest

from bench import claims
from bench.results import ScenarioResult
from bench.shared.metrics import Metrics
from tests.bench.fairness.figures import metrics, tenant
from tests.bench.worlds import ended


def result(name: str, **changes) -> ScenarioResult:
    return ended(name, metrics(**changes))


def starved(windows: int):
    return {"a": tenant(starvation_windows=windows)}


BASELINE = {"jain": 0.33, "throughput_per_s": 100.0, "tenants": starved(12)}
FAIR = {"jain": 0.48, "throughput_per_s": 85.0, "tenants": starved(11)}


@pytest.mark.parametrize(
    ("changes", "passed"),
    [
        ({}, [True, True, True]),
        ({"jain": 0.479}, [False, True, True]),
        ({"throughput_per_s": 84.0}, [True, False, True]),
        ({"tenants": starved(12)}, [True, True, False]),
        ({"jain": None}, [False, True, True]),
    ],
)
def test_better_than_the_baseline(changes, passed):
    found = claims.judge([result("baseline", **BASELINE), result("fair", **(FAIR | changes))])
    assert [check.passed for check in found] == passed


def test_a_scenario_that_failed_compares_with_nothing():
    found = claims.judge([ended("baseline", Metrics()), result("fair")])
    assert [check.passed for check in found] == [False, False, False]


def test_a_comparison_that_could_not_be_made_is_named():
    alone = [result("fair")]
    assert claims.judge(alone) == []
    assert len(claims.skipped(alone)) == 3
