"""The arrivals of fairness scenarios."""

from dataclasses import replace

from bench.fairness.scenarios import CONTENTION, FAIR


def test_arrivals_are_the_same_in_every_scenario_of_the_group():
    assert FAIR.arrivals(7) == CONTENTION.arrivals(7) == replace(FAIR, worker_count=1).arrivals(7)


def test_arrivals_follow_the_seed():
    assert FAIR.arrivals(1) == FAIR.arrivals(1)
    assert FAIR.arrivals(1) != FAIR.arrivals(2)


def test_arrivals_are_as_many_as_the_periods_allow():
    by_tenant = {load.id: 0 for load in FAIR.tenants}
    for arrival in FAIR.arrivals(3):
        by_tenant[arrival.tenant] += 1
        assert 0 <= arrival.at_ms < 4_100
    for each in FAIR.tenants:
        assert by_tenant[each.id] in {4_100 // each.every_ms, 4_100 // each.every_ms + 1}
