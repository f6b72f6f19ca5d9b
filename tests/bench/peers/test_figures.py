"""Figures are medians of all rounds; ratios compare turns of the same round."""

import pytest

from bench.peers.figures import figures
from bench.peers.roster import FAIRLANE
from tests.bench.peers.samples import BULLMQ, measured, turn


def test_a_speed_is_the_median_of_the_rounds():
    [load] = measured(BULLMQ, turn({3: 100.0}), turn({3: 400.0}), turn({3: 200.0})).loads
    assert load.tasks_per_s == pytest.approx(200)
    assert load.fastest_tasks_per_s == pytest.approx(400)
    assert load.rounds_per_s == [100.0, 400.0, 200.0]


def test_a_ratio_compares_turns_of_the_same_round():
    beside = [turn({3: 100.0}), turn({3: 1_000.0}), turn({3: 10.0})]
    found = measured(FAIRLANE, turn({3: 200.0}), turn({3: 3_000.0}), turn({3: 20.0}), beside=beside)
    assert found.loads[0].ratio == pytest.approx(2)


def test_a_round_that_only_one_of_them_has_gives_no_ratio():
    found = figures(FAIRLANE, {0: turn({3: 200.0}), 1: turn({3: 100.0})}, {1: turn({3: 50.0}), 2: turn({3: 1.0})})
    assert found.loads[0].ratio == pytest.approx(2)


def test_without_the_reference_there_is_no_ratio():
    assert measured(FAIRLANE, turn({3: 200.0})).loads[0].ratio is None


def test_every_number_of_tenants_has_its_load_in_ascending_order():
    found = measured(FAIRLANE, turn({10_000: 1.0, 3: 2.0, 100: 3.0}), beside=[turn({3: 4.0})])
    assert [(load.tenants, load.ratio) for load in found.loads] == [(3, 0.5), (100, 0.75), (10_000, 0.25)]


def test_costs_are_per_task():
    [load] = measured(BULLMQ, turn({3: 100.0})).loads
    assert (load.server_cpu_us, load.crew_cpu_us, load.calls) == (100.0, 200.0, 12.0)


def test_round_trips_of_all_rounds_are_ranked_together():
    found = measured(BULLMQ, turn({3: 1.0}, [1.0] * 990), turn({3: 1.0}, [9.0] * 10)).trips
    assert (found.p50, found.p99, found.p999, found.count) == (1.0, 1.0, 9.0, 1_000)


def test_memory_is_a_median_and_tasks_are_a_sum():
    turns = [turn({3: 1.0}, bytes_per_task=size) for size in (500.0, 900.0, 510.0)]
    found = measured(BULLMQ, *turns)
    assert (found.bytes_per_task, found.tasks) == (510.0, 4_500)


def test_a_queue_without_a_turn_has_no_figures():
    with pytest.raises(ValueError, match="BullMQ has no turn"):
        figures(BULLMQ, {}, {})
