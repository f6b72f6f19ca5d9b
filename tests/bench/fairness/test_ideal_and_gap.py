"""Ideal shares and service gaps, on streams whose answer was computed by hand."""

import pytest

from bench.fairness.measures.gap import service_gap
from bench.fairness.measures.ideal import cycle_times, ideal_shares
from tests.bench.fairness.test_measures import A, B, crowd
from tests.bench.stream import Stream
from tests.bench.worlds import load, observe, scenario


class TestIdeal:
    def test_a_cycle_runs_to_the_next_start_in_the_same_slot(self):
        stream = Stream(("a", 2), ("b", 1))
        for number, start in enumerate((0, 110, 220)):  # 100 ms each, 10 ms until the slot is used again
            stream.run("a", f"a{number}", handed=start, until=start + 100)
        for number, start in enumerate((5, 208)):
            stream.run("b", f"b{number}", handed=start, until=start + 200)
        assert cycle_times(observe(scenario(A, B), stream.by_time())) == {"a": 110.0, "b": 203.0}

    def test_ceilings_that_add_up_to_the_pool_decide_alone(self):
        """Slots of 2, 1, 1 in a pool of 4: no tenant can use more than its own slots."""
        loads = (load("i", 2, 400, slots=2), load("n", 1, 200, slots=1), load("s", 1, 800, slots=1))
        stream = Stream(("i", 2), ("n", 1), ("s", 1))
        for slot in range(2):
            for number in range(11):
                start = number * 90 + slot
                stream.run("i", f"i{slot}-{number}", handed=start, until=start + 89, cost=400)
        for number in range(10):
            stream.run("n", f"n{number}", handed=number * 100 + 2, until=number * 100 + 101, cost=200)
        for number in range(6):
            stream.run("s", f"s{number}", handed=number * 180 + 3, until=number * 180 + 182, cost=800)
        shares = ideal_shares(observe(scenario(*loads, slots=4), stream.by_time()))
        rates = {"i": 2 * 400 / 90, "n": 200 / 100, "s": 800 / 180}
        total = sum(rates.values())
        assert shares == {tenant: pytest.approx(rate / total) for tenant, rate in rates.items()}

    def test_without_ceilings_service_follows_the_weights(self):
        stream = Stream(("a", 2), ("b", 1))
        for number in range(9):
            stream.run("a", f"a{number}", handed=number * 110, until=number * 110 + 100)
            stream.run("b", f"b{number}", handed=number * 110 + 1, until=number * 110 + 101)
        shares = ideal_shares(observe(scenario(A, B), stream.by_time()))
        assert shares == {"a": pytest.approx(2 / 3), "b": pytest.approx(1 / 3)}

    def test_a_capacity_that_moved_leaves_the_ideal_unknown(self):
        stream = crowd()
        stream.add(500, "adapt", ("capacity", 2, 1, "throttled"))
        assert ideal_shares(observe(scenario(A, B), stream.by_time())) == {"a": None, "b": None}

    def test_a_tenant_that_never_started_leaves_the_ideal_unknown(self):
        stream = Stream(("a", 2), ("b", 1))
        stream.run("a", "a1", handed=0, until=10)
        stream.run("a", "a2", handed=20, until=30)
        assert ideal_shares(observe(scenario(A, B), stream.by_time())) == {"a": None, "b": None}


class TestGap:
    def test_the_gap_and_its_witness(self):
        """Both wait throughout with weight 1; b gets 20 after a got 10: gap 20, bound (10 + 1) + (10 + 1)."""
        stream = Stream(("a", 1), ("b", 1))
        for number in range(5):
            stream.submit(0, "a", f"a{number}")
            stream.submit(0, "b", f"b{number}")
        stream.hand(10, "a", "a0")
        stream.hand(11, "b", "b0")
        stream.hand(12, "b", "b1")
        stream.hand(13, "a", "a1")
        gap = service_gap(observe(scenario(load("a"), load("b")), stream.evidence()))
        assert (gap.largest, gap.bound) == (20.0, 22.0)
        assert (gap.witness.ahead, gap.witness.behind) == ("b", "a")
        assert (gap.witness.from_ms, gap.witness.to_ms) == (10, 12)

    def test_a_gap_beyond_its_bound_is_the_one_reported(self):
        stream = Stream(("a", 1), ("b", 1))
        for number in range(9):
            stream.submit(0, "a", f"a{number}")
            stream.submit(0, "b", f"b{number}")
        for number in range(6):
            stream.hand(10 + number, "a", f"a{number}")
        gap = service_gap(observe(scenario(load("a"), load("b")), stream.evidence()))
        assert gap.largest == 60.0
        assert gap.largest > gap.bound

    def test_a_charge_given_back_by_a_throttle_is_no_service(self):
        stream = Stream(("a", 1), ("b", 1))
        for number in range(5):
            stream.submit(0, "a", f"a{number}")
            stream.submit(0, "b", f"b{number}")
        for number in range(3):
            fence = stream.hand(10 + number, "a", "a0")
            stream.start(10 + number, "a", "a0", fence)
            stream.end(10 + number, "a", "a0", fence, "throttled", 0, "pending")
        gap = service_gap(observe(scenario(load("a"), load("b")), stream.evidence()))
        assert gap.largest == 10.0

    def test_a_tenant_s_debt_at_its_entry_loosens_the_bound(self):
        stream = Stream(("a", 1), ("b", 1))
        stream.add(0, "submit", ("pending", "a", "a0", 10, 100), ("entered", "a", -25))
        for number in range(5):
            stream.submit(1, "b", f"b{number}")
        stream.hand(10, "b", "b0")
        gap = service_gap(observe(scenario(load("a"), load("b")), stream.evidence()))
        assert (gap.largest, gap.bound) == (10.0, (10 + 1) + (25 + 1))

    def test_tenants_never_backlogged_together_have_no_gap(self):
        stream = Stream(("a", 1), ("b", 1))
        stream.run("a", "a0", handed=5, until=9)
        assert service_gap(observe(scenario(load("a"), load("b")), stream.evidence())) is None
