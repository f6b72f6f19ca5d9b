"""Checks pass on what they promise, fail on what they forbid, and never pass for want of evidence."""

from dataclasses import replace

import pytest

from bench import claims
from bench.checks.cost import (
    BatchingPays,
    FewCalls,
    FlatInBacklog,
    FlatInTenants,
    LeavesNothing,
    LimitsCostLittle,
    ParkedCostNothing,
)
from bench.checks.fairness import (
    AtLeast,
    CapacityMoves,
    Dominates,
    Evaluable,
    EveryTenantServed,
    GapWithinBound,
    InvariantsHold,
    NothingLeft,
    PeaksWithinLimits,
    ProviderSaw,
    SharesNearIdeal,
    Starved,
    Throttled,
    WorkersUsed,
)
from bench.checks.race import NaiveRecoversTwice, OneRecovers
from bench.figures import RaceSide
from bench.figures_cost import Backlog
from bench.results import POOL, CapacityChange, GapWitness, Metrics, ScenarioResult, ServiceGap, TenantMetrics
from bench.scenarios import SCENARIOS
from bench.scenarios.fairness import CONTENTION, FAIR
from tests.bench import control_cases, pool_cases
from tests.bench.cost_figures import call, drained, point
from tests.bench.worlds import load, scenario


def tenant(**changes) -> TenantMetrics:
    whole = {
        "successful_starts": 10,
        "service_cost": 100,
        "normalized_service": 100.0,
        "service_share": 0.5,
        "ideal_share": 0.5,
        "starvation_windows": 0,
        "queue_wait_p95_ms": 1.0,
        "end_to_end_p95_ms": 2.0,
        "backlog_ratio": 1.0,
    }
    return TenantMetrics(**(whole | changes))


def queues(*each: tuple[int, int, float | None], batch: int = 64) -> Metrics:
    """Queues of (tenants, tasks waiting), and the ratio of a call to one in the shortest queue."""
    return Metrics(
        backlogs=[
            Backlog(tenants=tenants, pending=pending, bytes_per_task=1.0, calls=[], ratios={str(batch): ratio})
            for tenants, pending, ratio in each
        ]
    )


def gap(largest: float, bound: float) -> ServiceGap:
    return ServiceGap(largest=largest, bound=bound, witness=GapWitness(ahead="a", behind="b", from_ms=0, to_ms=1))


def moves(*steps: tuple[int, int]) -> Metrics:
    return Metrics(controller_events=[CapacityChange.of(0, before, after, "x") for before, after in steps])


def side(contenders: int, after: int, **answers: int) -> RaceSide:
    return RaceSide(contenders=contenders, before=2, after=after, answers=answers)


CEILED = scenario(load("a", slots=1), load("b"), slots=2)
PEAKS = {
    "peak_reserved_slots": {POOL: 2, "a": 1, "b": 1},
    "peak_reserved_cost": {POOL: 20, "a": 10, "b": 10},
    "peak_active_slots": {POOL: 2, "a": 1, "b": 1},
}


@pytest.mark.parametrize(
    ("scenario_", "check"),
    [(each, check) for each in SCENARIOS for check in each.checks],
    ids=lambda value: getattr(value, "name", type(value).__name__),
)
def test_no_check_passes_without_evidence(scenario_, check):
    assert not check.judge(scenario_, Metrics()).passed


GOOD_AND_BAD = [
    (Evaluable(), Metrics(evaluable=True), Metrics(evaluable=False, evaluation_notes={"a": "idle"})),
    (AtLeast("jain", 0.9), Metrics(jain=0.9), Metrics(jain=0.899)),
    (
        Dominates("a"),
        Metrics(tenants={"a": tenant(successful_starts=11), "b": tenant()}),
        Metrics(tenants={"a": tenant(), "b": tenant()}),
    ),
    (
        Starved(("a",)),
        Metrics(tenants={"a": tenant(starvation_windows=1), "b": tenant()}),
        Metrics(tenants={"a": tenant(), "b": tenant(starvation_windows=1)}),
    ),
    (
        EveryTenantServed(),
        Metrics(tenants={"a": tenant(), "b": tenant()}),
        Metrics(tenants={"a": tenant(), "b": tenant(successful_starts=0)}),
    ),
    (PeaksWithinLimits(), Metrics(**PEAKS), Metrics(**(PEAKS | {"peak_reserved_slots": {POOL: 3, "a": 1, "b": 2}}))),
    (PeaksWithinLimits(), Metrics(**PEAKS), Metrics(**(PEAKS | {"peak_reserved_slots": {POOL: 2, "a": 2, "b": 1}}))),
    (WorkersUsed(), Metrics(workers={"w1": 3, "w2": 1}), Metrics(workers={"w1": 3})),
    (
        NothingLeft(),
        Metrics(potential_orphans=[], left_in_flight={"slots": 0, "cost": 0}),
        Metrics(potential_orphans=["a:t"], left_in_flight={"slots": 0, "cost": 0}),
    ),
    (
        NothingLeft(),
        Metrics(potential_orphans=[], left_in_flight={"slots": 0, "cost": 0}),
        Metrics(potential_orphans=[], left_in_flight={"slots": 1, "cost": 10}),
    ),
    (InvariantsHold(), Metrics(violations=[]), Metrics(violations=["counter: pool slots: 1; expected 0"])),
    (
        SharesNearIdeal(0.05),
        Metrics(tenants={"a": tenant(service_share=0.524)}),
        Metrics(tenants={"a": tenant(service_share=0.526)}),
    ),
    (GapWithinBound(), Metrics(service_gap=gap(10, 10)), Metrics(service_gap=gap(11, 10))),
    (CapacityMoves(1, 4), moves((4, 2), (2, 3)), moves((4, 2), (2, 4))),
    (CapacityMoves(1, 4), moves((4, 2), (2, 3)), moves((4, 2))),
    (CapacityMoves(1, 4), moves((4, 2), (2, 3)), moves((2, 3), (3, 4))),
    (CapacityMoves(2, 4), moves((4, 2), (2, 3)), moves((2, 1), (1, 2))),
    (Throttled(), Metrics(attempt_states={"throttled": 1}), Metrics(attempt_states={"completed": 9})),
    (ProviderSaw(), Metrics(provider_peak=2), Metrics(provider_peak=3)),
    (NaiveRecoversTwice(), Metrics(naive=side(2, 4)), Metrics(naive=side(2, 3))),
    (
        OneRecovers(),
        Metrics(repaired=[side(2, 3, recovered=1, cooldown=1), side(8, 3, recovered=1, cooldown=7)]),
        Metrics(repaired=[side(2, 3, recovered=1, cooldown=1), side(8, 4, recovered=2, cooldown=6)]),
    ),
    (
        FlatInTenants(100, 10_000, 0.85),
        Metrics(loads=[point(100, 100), point(10_000, 85)]),
        Metrics(loads=[point(100, 100), point(10_000, 84)]),
    ),
    (
        ParkedCostNothing(1.5),
        Metrics(dispatch_calls=[call(0, 1, 100), call(9990, 1, 150)]),
        Metrics(dispatch_calls=[call(0, 1, 100), call(9990, 1, 151)]),
    ),
    (
        ParkedCostNothing(1.5),
        Metrics(dispatch_calls=[call(0, 1, 100), call(9990, 1, 150)]),
        Metrics(dispatch_calls=[call(0, 1, 100), call(0, 64, 100), call(9990, 1, 100)]),
    ),
    *(
        (
            ParkedCostNothing(1.5),
            Metrics(dispatch_calls=[call(0, 1, 100), call(9990, 1, 150)]),
            Metrics(dispatch_calls=[call(0, 1, free), call(9990, 1, parked)]),
        )
        for free, parked in ((100, None), (100, 0), (None, 100), (0, 100))
    ),
    *(
        (FlatInBacklog(1_000, 100_000, 64, 1.5), queues((3, 1_000, 1.0), (3, 100_000, 1.5)), bad)
        for bad in (
            queues((3, 1_000, 1.0), (3, 100_000, 1.51)),
            queues((3, 1_000, 1.0), (3, 100_000, None)),
            queues((3, 1_000, 1.0)),
            queues((3, 100_000, 1.0)),
            queues((3, 1_000, 1.0), (3, 50_000, 1.0)),
            queues((3, 1_000, 1.0), (9, 1_000, 1.0), (3, 100_000, 1.0)),
            queues((3, 1_000, 1.0), (9, 1_000, 1.0), (3, 100_000, 1.0), (9, 100_000, 1.51)),
            queues((3, 1_000, 1.0), (3, 100_000, 1.0), (3, 1_000_000, 1.51)),
            queues((3, 1_000, 1.0), (3, 100_000, 1.0), batch=1),
        )
    ),
    (BatchingPays(1, 64, 5), Metrics(batching={"1": 10, "64": 50}), Metrics(batching={"1": 10, "64": 49})),
    (FewCalls(25), Metrics(loads=[point(3, 1, 25)]), Metrics(loads=[point(3, 1, 20), point(9, 1, 25.1)])),
    (LeavesNothing(0.02), Metrics(drained=drained()), Metrics(drained=drained(keys_after=6))),
    (LeavesNothing(0.02), Metrics(drained=drained()), Metrics(drained=drained(data_after_bytes=1300))),
    (LeavesNothing(0.02), Metrics(drained=drained()), Metrics(drained=drained(keys_peak=5))),
    (
        LimitsCostLittle(0.9),
        Metrics(loads=[point(3, 50), point(100, 100)], limited=point(100, 90)),
        Metrics(loads=[point(3, 50), point(100, 100)], limited=point(100, 89)),
    ),
    (
        LimitsCostLittle(0.9),
        Metrics(loads=[point(100, 100)], limited=point(100, 90)),
        Metrics(loads=[point(3, 50)], limited=point(100, 90)),
    ),
    *control_cases.CASES,
    *pool_cases.CASES,
]


@pytest.mark.parametrize(("check", "good", "bad"), GOOD_AND_BAD, ids=lambda value: type(value).__name__)
def test_each_check_tells_good_from_bad(check, good, bad):
    assert check.judge(CEILED, good).passed
    assert not check.judge(CEILED, bad).passed


def test_every_kind_of_check_in_use_is_tested_above():
    in_use = {type(check) for each in SCENARIOS for check in each.checks}
    assert in_use <= {type(check) for check, _, _ in GOOD_AND_BAD}


class TestClaims:
    def result(self, name, **metrics) -> ScenarioResult:
        return ScenarioResult(
            name=name,
            group="g",
            title="t",
            claim="c",
            config={},
            metrics=Metrics(**metrics),
            checks=[],
            passed=True,
            duration_s=1.0,
        )

    def test_better_than_baseline(self):
        found = claims.judge(
            [
                self.result(
                    "baseline", jain=0.33, throughput_per_s=100.0, tenants={"a": tenant(starvation_windows=12)}
                ),
                self.result("fair", jain=0.9, throughput_per_s=85.0, tenants={"a": tenant()}),
            ]
        )
        assert [check.passed for check in found] == [True, True, True]

    def test_no_better_than_baseline(self):
        starved = {"a": tenant(starvation_windows=3)}
        found = claims.judge(
            [
                self.result("baseline", jain=0.8, throughput_per_s=100.0, tenants=starved),
                self.result("fair", jain=0.94, throughput_per_s=84.0, tenants=starved),
            ]
        )
        assert [check.passed for check in found] == [False, False, False]

    def test_an_index_that_could_not_be_told_fails(self):
        found = claims.judge([self.result("baseline", jain=0.3), self.result("fair", jain=None)])
        assert not any(check.passed for check in found)

    def test_what_could_not_be_compared_is_said(self):
        alone = [self.result("fair", jain=0.9)]
        assert claims.judge(alone) == []
        assert len(claims.skipped(alone)) == 3


class TestScenarios:
    def test_arrivals_are_the_same_in_every_scenario_of_the_group(self):
        assert FAIR.arrivals(7) == CONTENTION.arrivals(7) == replace(FAIR, worker_count=1).arrivals(7)

    def test_arrivals_follow_the_seed(self):
        assert FAIR.arrivals(1) == FAIR.arrivals(1)
        assert FAIR.arrivals(1) != FAIR.arrivals(2)

    def test_arrivals_are_as_many_as_the_periods_allow(self):
        by_tenant = {load.id: 0 for load in FAIR.tenants}
        for arrival in FAIR.arrivals(3):
            by_tenant[arrival.tenant] += 1
            assert 0 <= arrival.at_ms < 4_100
        for each in FAIR.tenants:
            assert by_tenant[each.id] in {4_100 // each.every_ms, 4_100 // each.every_ms + 1}
