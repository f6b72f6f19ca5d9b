"""Checks pass on good figures, fail on bad ones, and never pass without evidence."""

from dataclasses import replace

import pytest

from bench.kinds import KINDS, SCENARIOS
from bench.shared.checks import Bound, Each
from tests.bench.budget import cases as budget, figures as budget_figures
from tests.bench.fairness import cases as fairness, figures as fairness_figures
from tests.bench.handoff import cases as handoff, figures as handoff_figures
from tests.bench.races import cases as races, figures as races_figures
from tests.bench.requeue import cases as requeue, figures as requeue_figures
from tests.bench.throughput import cases as throughput, figures as throughput_figures
from tests.bench.workers import cases as workers, figures as workers_figures
from tests.bench.worlds import load, scenario

CEILED = scenario(replace(load("a", slots=1), cost_ceiling=10), load("b"), slots=2)
CASES = [
    (check, good, bad)
    for module in (fairness, budget, requeue, races, handoff, workers, throughput)
    for check, good, bads in module.CASES
    for bad in bads
]
NOTHING = {
    type(each): each
    for each in (
        fairness_figures.NOTHING,
        budget_figures.NOTHING,
        budget_figures.races(),
        requeue_figures.NOTHING,
        races_figures.NOTHING,
        handoff_figures.NOTHING,
        workers_figures.NO_TRIALS,
        workers_figures.NO_HEALTH,
        throughput_figures.NOTHING,
    )
}
IN_USE = [(kind, each, check) for kind in KINDS for each in kind.scenarios for check in each.checks]


@pytest.mark.parametrize(("check", "good", "bad"), CASES, ids=lambda value: getattr(value, "name", ""))
def test_each_check_tells_good_from_bad(check, good, bad):
    assert check.judge(CEILED, good).passed
    assert not check.judge(CEILED, bad).passed


@pytest.mark.parametrize(
    ("kind", "scenario_", "check"), IN_USE, ids=lambda value: getattr(value, "name", value.__class__.__name__)
)
def test_no_check_passes_without_evidence(kind, scenario_, check):
    assert not check.judge(scenario_, NOTHING[kind.metrics]).passed


def promise(check) -> object:
    """The identity of a check apart from its bounds: its code, or its class."""
    for attribute in ("figure", "holds"):
        if hasattr(check, attribute):
            return getattr(getattr(check, attribute), "__code__", check.name.split()[0])
    return type(check)


def test_every_check_in_use_is_tested_above():
    tested = {promise(check) for check, _, _ in CASES}
    assert [check.name for _, _, check in IN_USE if promise(check) not in tested] == []


def test_no_scenario_makes_a_promise_twice():
    for each in SCENARIOS:
        names = [check.name for check in each.checks]
        assert len(set(names)) == len(names)


class TestBound:
    @pytest.mark.parametrize(
        ("figure", "passed"), [(1.9, False), (2.0, True), (3.0, True), (3.1, False), (None, False), (0, False)]
    )
    def test_of_one_figure(self, figure, passed):
        assert Bound("b", lambda _: figure, at_least=2, at_most=3).judge(None, None).passed is passed

    @pytest.mark.parametrize(
        ("figures", "passed"),
        [({"x": 1.0, "y": 2.0}, True), ({"x": 1.0, "y": 2.1}, False), ({"x": None}, False), ({}, False)],
    )
    def test_of_several(self, figures, passed):
        assert Bound("b", lambda _: figures, at_most=2).judge(None, None).passed is passed

    def test_it_judges_the_figure_as_measured_and_shows_it_rounded(self):
        check = Bound("b", lambda _: 2.0004, at_most=2, digits=3).judge(None, None)
        assert (check.passed, check.observed, check.expected) == (False, 2.0, "≤ 2")


def test_a_promise_about_parts_needs_all_of_them():
    each = Each("e", lambda parts: parts, lambda part: part > 1, str, "> 1")
    assert each.judge(None, {"x": 2, "y": 3}).observed == {"x": "2", "y": "3"}
    assert [each.judge(None, parts).passed for parts in ({"x": 2}, {"x": 2, "y": 1}, {})] == [True, False, False]
