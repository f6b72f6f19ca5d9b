"""Every metric, on hand-made streams whose answer was computed by hand."""

import pytest

from bench.fairness.measures import Observation
from bench.fairness.measures.attempts import (
    peak_active_slots,
    peak_reserved_cost,
    peak_reserved_slots,
    potential_orphans,
    starts_by_worker,
    states,
    throttled_then_completed,
)
from bench.fairness.measures.backlog import backlog_ratio, evaluation_notes, starvation_windows
from bench.fairness.measures.service import percentiles, queue_wait
from bench.fairness.scenarios import FAIR
from bench.shared.evidence import Attempt
from bench.shared.metrics import POOL
from bench.shared.session import CallSpan
from tests.bench.stream import Stream
from tests.bench.worlds import load, measured, observe, scenario

A, B = load("a", weight=2), load("b")


def crowd() -> Stream:
    """a: 20 tasks of cost 10, b: 10 of cost 10, all submitted at 0 with many more; back to back for 1 s."""
    stream = Stream(("a", 2), ("b", 1))
    for number in range(20):
        stream.run("a", f"a{number}", handed=number * 50, until=number * 50 + 50)
    for number in range(10):
        stream.run("b", f"b{number}", handed=number * 100, until=number * 100 + 100, to="w2")
    for number in range(5):
        stream.submit(0, "a", f"later-a{number}")
        stream.submit(0, "b", f"later-b{number}")
    return stream


class TestService:
    def test_service_shares_and_jain(self):
        metrics = measured(observe(scenario(A, B), crowd().by_time()))
        assert metrics.evaluable
        assert metrics.evaluation_notes == {}
        assert (metrics.successful_starts, metrics.throughput_per_s) == (30, 30.0)
        a, b = metrics.tenants["a"], metrics.tenants["b"]
        assert (a.successful_starts, a.service_cost, a.normalized_service) == (20, 200, 100.0)
        assert (b.successful_starts, b.service_cost, b.normalized_service) == (10, 100, 100.0)
        assert (a.service_share, b.service_share) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
        assert metrics.jain == pytest.approx(1.0)
        assert metrics.workers == {"w1": 20, "w2": 10}

    def test_jain_of_unequal_service(self):
        equal_weights = scenario(load("a"), load("b"))
        metrics = measured(observe(equal_weights, crowd().by_time()))
        assert metrics.jain == pytest.approx(300**2 / (2 * (200**2 + 100**2)))

    def test_only_starts_inside_the_window_that_completed_count(self):
        stream = Stream(("a", 2), ("b", 1))
        stream.run("a", "before-the-end", handed=999, until=1100)
        stream.run("a", "after-the-end", handed=1000, until=1100)
        stream.submit(0, "a", "failed")
        fence = stream.hand(1, "a", "failed")
        stream.start(2, "a", "failed", fence)
        stream.end(3, "a", "failed", fence, "failed", 10, "failed")
        metrics = measured(observe(scenario(A, B), stream.by_time()), 1)
        assert metrics.tenants["a"].successful_starts == 1
        assert metrics.attempt_states == {"completed": 2, "failed": 1}

    def test_too_few_starts_have_no_jain_and_say_why(self):
        stream = Stream(("a", 2), ("b", 1))
        stream.run("a", "t1", handed=0, until=1000)
        metrics = measured(observe(scenario(A, B), stream.evidence()), 1)
        assert metrics.jain is None
        assert metrics.evaluable is False
        assert metrics.evaluation_notes[POOL].startswith("1 successful starts")
        assert "0%" in metrics.evaluation_notes["b"]

    def test_waits_are_nearest_ranks_from_acceptance_to_start(self):
        stream = Stream(("a", 2), ("b", 1))
        for number in range(1, 101):
            stream.run("a", f"t{number}", submitted=0, handed=number, until=number + 1)
        found = percentiles(observe(scenario(A, B), stream.by_time()), queue_wait)
        assert (found.p50, found.p95, found.p99) == (50, 95, 99)

    def test_no_starts_have_no_percentiles(self):
        found = percentiles(observe(scenario(A, B), Stream(("a", 1)).evidence()), queue_wait)
        assert (found.p50, found.p95, found.p99) == (None, None, None)


class TestBacklog:
    def test_the_ratio_counts_samples_with_something_waiting(self):
        stream = Stream(("a", 2), ("b", 1))
        stream.run("a", "t1", submitted=150, handed=400, until=450)  # waits at 200 and 300
        stream.submit(650, "a", "t2")  # waits at 700, 800, 900
        observation = observe(scenario(A, B), stream.by_time())
        assert backlog_ratio(observation, "a") == pytest.approx(0.5)
        assert backlog_ratio(observation, "b") == 0.0

    def test_a_slice_starves_if_half_its_samples_wait_and_nothing_starts(self):
        stream = Stream(("a", 2), ("b", 1))
        stream.submit(0, "a", "waits-long")  # both slices: waits all the time, starts nothing
        stream.run("b", "t1", submitted=0, handed=499, until=600)  # first slice: waits, but starts something
        stream.submit(750, "b", "t2")  # second slice: waits in 2 of 5 samples
        observation = observe(scenario(A, B), stream.by_time())
        assert starvation_windows(observation, "a") == 2
        assert starvation_windows(observation, "b") == 0

    def test_an_idle_tenant_is_named(self):
        assert evaluation_notes(observe(scenario(A, B), crowd().by_time())) == {}
        stream = crowd()
        stream.end(100, "b", "later-b0", 0, "cancelled", 0, "cancelled")
        assert "b" not in evaluation_notes(observe(scenario(A, B), stream.by_time()))


class TestAttempts:
    def test_peaks_do_not_take_a_handover_within_one_millisecond_for_overlap(self):
        stream = Stream(("a", 2), ("b", 1))
        for name in ("t1", "t2", "t3"):
            stream.submit(0, "a", name, cost=30)
        one = stream.hand(1, "a", "t1", 30)
        stream.start(1, "a", "t1", one)
        stream.end(5, "a", "t1", one, actual=30)
        two = stream.hand(5, "a", "t2", 30)
        three = stream.hand(5, "a", "t3", 30)
        stream.start(5, "a", "t2", two)
        stream.end(6, "a", "t2", two, actual=30)
        stream.start(6, "a", "t3", three)
        observation = observe(scenario(A, B), stream.evidence())
        assert peak_reserved_slots(observation) == {POOL: 2, "a": 2, "b": 0}
        assert peak_reserved_cost(observation) == {POOL: 60, "a": 60, "b": 0}
        assert peak_active_slots(observation) == {POOL: 1, "a": 1, "b": 0}

    def test_an_orphan_was_handed_over_long_before_the_end_and_went_nowhere(self):
        stream = Stream(("a", 2), ("b", 1))
        for name in ("orphan", "fresh", "started"):
            stream.submit(0, "a", name)
        stream.hand(1250, "a", "orphan")
        stream.hand(1251, "a", "fresh")
        fence = stream.hand(1000, "a", "started")
        stream.start(1001, "a", "started", fence)
        stream.end(1600, "a", "orphan", 1, "cancelled", 0, "cancelled")  # ended, but by the clean-up after the run
        observation = observe(scenario(A, B), stream.by_time())
        assert potential_orphans(observation) == ["a:orphan (fence 1)"]
        assert states(observation) == {"enqueued": 1, "active": 1, "cancelled": 1}
        assert starts_by_worker(observation) == {"w1": 1}

    def test_throttled_then_completed_counts_only_a_later_good_attempt(self):
        stream = Stream(("a", 2), ("b", 1))
        for name in ("again", "never"):
            stream.submit(0, "a", name)
            fence = stream.hand(1, "a", name)
            stream.start(2, "a", name, fence)
            stream.end(3, "a", name, fence, "throttled", 0, "pending")
        fence = stream.hand(10, "a", "again")
        stream.start(11, "a", "again", fence)
        stream.end(20, "a", "again", fence)
        assert throttled_then_completed(observe(scenario(A, B), stream.evidence())) == 1

    def test_a_throttle_during_the_warm_up_does_not_count(self):
        stream = Stream(("a", 2), ("b", 1))
        stream.submit(0, "warm-up", "w")
        for at_ms, kind, state in ((3, "throttled", "pending"), (9, "completed", "completed")):
            fence = stream.hand(at_ms - 2, "warm-up", "w")
            stream.start(at_ms - 1, "warm-up", "w", fence)
            stream.end(at_ms, "warm-up", "w", fence, kind, 0, state)
        assert throttled_then_completed(observe(scenario(A, B), stream.evidence())) == 0


class TestOccupancyAndSeries:
    def test_occupancy_is_cut_to_the_window_and_divided_by_the_pool(self):
        stream = Stream(("a", 2), ("b", 1))
        stream.run("a", "a0", handed=0, until=500)
        stream.run("b", "b0", handed=500, until=1200)
        small = scenario(A, B)
        evidence = stream.by_time()
        ref = next(iter(evidence.tasks))
        observation = Observation(small, evidence, 0, {ref: CallSpan(100_000, 500_000)})
        metrics = measured(observation, 1)
        assert metrics.reserved_occupancy == pytest.approx((500 + 500) / 2000)
        assert metrics.provider_occupancy == pytest.approx(400 / 2000)

    def test_a_slot_that_idles_shows_in_the_occupancy_and_not_in_the_shares(self):
        """Tenant b always has waiting tasks, and uses its slot every other 100 ms."""
        stream = Stream(("a", 1), ("b", 1))
        for number in range(15):
            stream.run("a", f"a{number}", handed=number * 100, until=number * 100 + 99)
            stream.run("b", f"b{number}", handed=number * 200 + 1, until=number * 200 + 100)
        small = scenario(load("a", slots=1), load("b", slots=1))
        metrics = measured(observe(small, stream.by_time()))
        failed = [check.name for check in FAIR.checks if not check.judge(small, metrics).passed]
        assert "service share near ideal" not in failed
        assert "reserved_occupancy at least 0.9" in failed

    def test_series_run_from_the_clock_to_the_end(self):
        stream = crowd()
        stream.add(700, "adapt", ("capacity", 2, 1, "throttled"))
        series = measured(observe(scenario(A, B), stream.by_time())).series
        assert series.capacity == [(0, 2), (700, 1), (1500, 1)]
        assert series.normalized_service["b"][5] == (500, 50.0)
        assert series.normalized_service["a"][-1] == (1500, 100.0)
        assert series.backlog["b"][0] == (0, 14)
        assert series.backlog["b"][-1] == (1500, 5)

    def test_times_count_from_the_clock(self):
        stream = Stream(("a", 2), ("b", 1))
        stream.add(900, "set_capacity", ("capacity", 4, 2, "set"))
        stream.add(1700, "adapt", ("capacity", 2, 1, "throttled"))
        observation = Observation(scenario(A, B), stream.evidence(), 1000, {})
        metrics = measured(observation, 0)
        assert [(each.at_ms, each.before, each.after) for each in metrics.controller_events] == [(700, 2, 1)]
        assert metrics.series.capacity == [(0, 2), (700, 1), (1500, 1)]


def test_warm_up_is_not_measured():
    stream = crowd()
    stream.run("warm-up", "w", handed=0, until=100, to="w9")
    observation = observe(scenario(A, B), stream.by_time())
    assert all(isinstance(each, Attempt) and each.ref.tenant != "warm-up" for each in observation.all_attempts())
    assert "w9" not in starts_by_worker(observation)


def test_the_pools_peaks_are_those_of_the_scenarios_tenants():
    stream = Stream(("a", 2), ("b", 1))
    for number in range(3):
        stream.run("warm-up", f"w{number}", handed=0, until=100)
    stream.run("a", "a0", handed=200, until=300)
    observation = observe(scenario(A, B), stream.by_time())
    assert peak_reserved_slots(observation) == peak_active_slots(observation) == {POOL: 1, "a": 1, "b": 0}
    assert peak_reserved_cost(observation) == {POOL: 10, "a": 10, "b": 0}
