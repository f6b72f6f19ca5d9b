"""Figures about budgets and windows, on streams whose figures can be counted by hand."""

import heapq
from dataclasses import replace

import pytest

from bench.budget.measures import burst_run, closest, peak_active
from bench.budget.metrics import BurstRun
from bench.budget.scenario import BUDGET_ATOMIC
from bench.shared.budget_use import BudgetUse, budget_use, promised
from bench.shared.burst import Burst
from bench.shared.session import CallSpan
from fairlane.config import WindowConfig
from fairlane.domain.task import TaskRef
from fairlane.store.messages import Ledger
from tests.bench.budget.test_order import waiting
from tests.bench.stream import Stream

BURST = Burst(
    waves=((2, 10), (1, 1)),
    takes_ms=(40, 60),
    cost=100,
    budget_units=300,
    pool_slots=2,
    worker_count=2,
    worker_slots=2,
)


def ledger(limit: int | None = 300, held: int = 0, spent: int = 0, late: int = 0) -> Ledger:
    return Ledger(limit, held, spent, 0, late, 0, 0, spent + late, None)


def ran(stream: Stream, after: Ledger | None = None) -> BurstRun:
    """The burst of tenant a, without a window."""
    window = WindowConfig(limit=2, interval_ms=90)
    whole = {"window": window, "applied": False, "ledger": after or ledger(), "spans": {}}
    return burst_run(BURST, "a", stream.evidence(), **whole)


class TestBurst:
    def test_tasks_in_the_order_in_which_they_are_submitted(self):
        assert [(each.task_id, each.priority, each.takes_ms, each.cost) for each in BURST.arrivals("a")] == [
            ("a-00", 10, 40, 100),
            ("a-01", 10, 60, 100),
            ("a-02", 1, 40, 100),
        ]

    def test_another_order_of_submission_changes_no_task(self):
        turned = replace(BURST, submitted=(1, 0, 2))
        assert [each.task_id for each in turned.arrivals("a")] == ["a-01", "a-00", "a-02"]
        assert sorted(turned.arrivals("a"), key=lambda each: each.task_id) == BURST.arrivals("a")

    def test_no_slot_is_free_for_others_long_after_the_last_urgent_task_has_one(self):
        tasks = sorted(BUDGET_ATOMIC.burst.arrivals("a"), key=lambda each: each.priority)
        assert len({each.task_id for each in tasks}) == 24
        free, starts = [0] * BUDGET_ATOMIC.burst.pool_slots, []
        for each in tasks:
            starts.append((heapq.heappop(free), each.priority))
            heapq.heappush(free, starts[-1][0] + each.takes_ms)
        last_urgent, first_other = (starts[place] for place in (7, 8))
        assert (last_urgent, first_other) == ((60, 1), (120, 10))

    def test_everything_counted(self):
        stream = Stream(("a", 1), ("other", 1))
        for number, worker in enumerate(("w1", "w2")):
            stream.add(0, "register", ("worker", worker, f"worker-{number + 1}", "live"))
        for name, priority in (("x", 10), ("y", 10), ("z", 1)):
            stream.submit(10, "a", name, 100, priority)
        stream.add(20, "pause", ("resumed",))
        fences = {}
        for at_ms, name, worker in ((25, "z", "w1"), (30, "x", "w2"), (120, "y", "w1")):
            fences[name] = stream.hand(at_ms - 5, "a", name, 100, worker)
            stream.start(at_ms, "a", name, fences[name])
            if name == "x":
                stream.end(90, "a", "z", fences["z"], actual=100)
                stream.end(95, "a", "x", fences["x"], actual=80)
        stream.end(170, "a", "y", fences["y"], actual=100)
        stream.run("other", "o", handed=180, until=900, submitted=175)
        found = burst_run(
            BURST,
            "a",
            stream.evidence(),
            window=WindowConfig(limit=2, interval_ms=90),
            applied=True,
            ledger=ledger(spent=280),
            spans={TaskRef("a", name): CallSpan(at_us, 0) for name, at_us in (("x", 31_000), ("y", 120_500))}
            | {TaskRef("a", "z"): CallSpan(26_250, 0)},
        )
        assert (found.window, found.interval_ms) == ("2 starts per 90 ms", 90)
        assert (found.tasks, found.completed, found.tasks_per_s) == (3, 3, 20.0)
        assert (found.queue_wait_ms.p50, found.queue_wait_ms.p99) == (20.0, 110.0)
        assert (found.processing_ms.p50, found.processing_ms.p99) == (65.0, 65.0)
        assert (found.end_to_end_ms.p50, found.end_to_end_ms.p99) == (85.0, 160.0)
        assert found.workers == {"worker-1": 2, "worker-2": 1}
        assert (found.could_run, found.peak_active) == (4, 2)
        assert found.starts_by_priority == {"1": 1, "10": 2}
        assert (found.handed_too_early, found.too_early, found.overtook) == ([], [], [])
        assert found.closest_ms == 95
        assert found.closest_seen_ms == 94.2
        assert found.use == BudgetUse.of(limit=300, admitted=300, held=0, spent=280, most_promised=280, by_events=280)

    def test_a_task_that_completes_twice_is_counted_once(self):
        stream = Stream(("a", 1))
        for name in ("x", "y"):
            stream.submit(10, "a", name, 100)
        for at_ms in (20, 30):
            fence = stream.hand(at_ms, "a", "x", 100)
            stream.start(at_ms, "a", "x", fence)
            stream.end(at_ms + 5, "a", "x", fence, actual=100)
        found = ran(stream, ledger(spent=200))
        assert (found.tasks, found.completed) == (2, 1)

    def test_a_burst_that_never_started_has_no_speed(self):
        stream = Stream(("a", 1))
        stream.submit(10, "a", "x", 100)
        found = ran(stream)
        assert (found.window, found.tasks_per_s, found.closest_ms, found.closest_seen_ms) == (None, None, None, None)
        assert (found.peak_active, found.completed, found.workers) == (0, 0, {})

    @pytest.mark.parametrize(
        ("handed", "began", "workers", "early"),
        [
            ("zx", "xz", {"x": "w2"}, ([], ["a:x"], [])),
            ("zx", "xz", {}, ([], ["a:x"], ["a:x"])),
            ("xz", "zx", {}, (["a:x"], [], [])),
        ],
    )
    def test_the_order_of_hand_overs_and_that_of_starts(self, handed, began, workers, early):
        stream = waiting()
        fences = {
            name: stream.hand(at_ms, "a", name, to=workers.get(name, "w1")) for at_ms, name in enumerate(handed, 2)
        }
        for at_ms, name in enumerate(began, 5):
            stream.start(at_ms, "a", name, fences[name])
        found = ran(stream)
        assert (found.handed_too_early, found.too_early, found.overtook) == early


class TestClosest:
    @pytest.mark.parametrize(
        ("starts", "limit", "shortest"),
        [
            ([0, 10, 100, 105, 300], 2, 95),
            ([0, 10, 100, 105, 300], 1, 5),
            ([0, 10], 2, None),
            ([], 4, None),
            ([0, 0, 1_000, 1_000], 2, 1_000),
        ],
    )
    def test_by_hand(self, starts, limit, shortest):
        assert closest(starts, limit) == shortest


class TestPromised:
    def test_a_hold_becomes_spent_and_the_unused_part_is_refunded(self):
        stream = Stream(("a", 1))
        for name in ("x", "y"):
            stream.submit(0, "a", name, 100)
        first = stream.hand(1, "a", "x", 100)
        second = stream.hand(2, "a", "y", 100)
        stream.start(3, "a", "x", first)
        stream.start(3, "a", "y", second)
        stream.end(4, "a", "x", first, actual=60)
        stream.end(5, "a", "y", second, "throttled", 0, "pending")
        assert promised(stream.evidence(), "a") == (200, 60)

    def test_an_overrun_and_late_usage_count(self):
        stream = Stream(("a", 1))
        stream.submit(0, "a", "x", 100)
        lost = stream.hand(1, "a", "x", 100)
        stream.start(2, "a", "x", lost)
        stream.end(3, "a", "x", lost, "lost", 0, "pending")
        again = stream.hand(4, "a", "x", 100)
        stream.start(5, "a", "x", again)
        stream.add(6, "settle", ("late", "a", "x", lost, 70))
        stream.end(7, "a", "x", again, actual=130)
        assert promised(stream.evidence(), "a") == (200, 200)
        found = budget_use(stream.evidence(), "a", ledger(limit=150, spent=130, late=70))
        assert (found.spent, found.by_events, found.admitted, found.remaining) == (200, 200, 100, -50)

    def test_no_admitted_task_is_nothing_promised(self):
        assert promised(Stream(("a", 1)).evidence(), "a") == (0, 0)

    def test_a_tenant_without_a_budget_has_no_budget_use(self):
        with pytest.raises(ValueError, match="no budget"):
            budget_use(Stream(("a", 1)).evidence(), "a", ledger(limit=None))

    def test_running_attempts_count_until_the_end(self):
        stream = Stream(("a", 1))
        for number in range(3):
            stream.submit(0, "a", f"t{number}")
            stream.start(number + 1, "a", f"t{number}", stream.hand(number + 1, "a", f"t{number}"))
        stream.end(9, "a", "t0", 1)
        assert peak_active(stream.evidence(), "a") == 3
