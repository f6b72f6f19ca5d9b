"""Goals compare Fairlane with BullMQ; they are apart from delivery, which must be exact."""

from bench.peers.goals import delivery, goals
from bench.peers.results import Failure
from bench.peers.roster import FAIRLANE
from tests.bench.peers.samples import BULLMQ, measured, turn

SLOW = turn({3: 100.0}, [2.0, 4.0])


def _goals(speeds: dict[int, float], trips_ms: list[float]) -> dict[str, bool]:
    fairlane = measured(FAIRLANE, turn(speeds, trips_ms), beside=[SLOW])
    return {each.name: each.passed for each in goals(fairlane, measured(BULLMQ, SLOW, beside=[SLOW]))}


def test_three_times_the_speed_and_no_slower_round_trips_meet_every_goal():
    assert _goals({3: 300.0, 100: 301.0, 10_000: 400.0}, [2.0, 4.0]) == {
        "speed at 3 tenants against BullMQ": True,
        "speed at 100 tenants against BullMQ": True,
        "speed at 10,000 tenants against BullMQ": True,
        "round trip at light load, p50": True,
        "round trip at light load, p99": True,
    }


def test_each_goal_can_be_missed_alone():
    assert not _goals({3: 299.0, 100: 300.0}, [1.0])["speed at 3 tenants against BullMQ"]
    assert _goals({3: 299.0, 100: 300.0}, [1.0])["speed at 100 tenants against BullMQ"]
    late = _goals({3: 300.0}, [1.0, 4.1])
    assert (late["round trip at light load, p50"], late["round trip at light load, p99"]) == (True, False)


def test_without_the_reference_nothing_is_aimed_at():
    assert goals(measured(FAIRLANE, turn({3: 1.0})), None) == []


def test_a_fairlane_that_failed_misses_its_goals():
    [check] = goals(None, measured(BULLMQ, SLOW))
    assert not check.passed


def test_a_failure_is_no_exact_delivery():
    checks = delivery([measured(BULLMQ, SLOW)], [Failure(name="arq", reason="arq: 1 of 5 tasks did not run")])
    assert [(each.name, each.passed, each.observed) for each in checks] == [
        ("BullMQ delivers exactly", True, "1,500 tasks"),
        ("arq delivers exactly", False, "arq: 1 of 5 tasks did not run"),
    ]
