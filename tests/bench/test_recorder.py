"""The event stream becomes evidence, and a gap in the stream is detected."""

import pytest

from bench.shared.recorder import Recorder
from fairlane.domain.attempt import AttemptState
from fairlane.domain.event_decoder import decode_event
from fairlane.domain.policy import ParkReason
from fairlane.domain.task import TaskRef, TaskState
from fairlane.errors import MalformedEvent
from tests.bench.stream import Stream


def changes(deltas):
    return [(delta.at_ms, delta.change) for delta in deltas]


class TestOneTask:
    def test_a_completed_task(self):
        stream = Stream(("acme", 3))
        stream.add(1, "register", ("worker", "inc-1", "worker-1", "live"))
        stream.submit(5, "acme", "t1", 40, 7)
        fence = stream.hand(6, "acme", "t1", 40, "inc-1")
        stream.start(8, "acme", "t1", fence)
        stream.end(20, "acme", "t1", fence, actual=33)
        evidence = stream.evidence()

        task = evidence.tasks[TaskRef("acme", "t1")]
        (attempt,) = task.attempts
        assert (task.cost, task.priority, task.state) == (40, 7, TaskState.COMPLETED)
        assert (task.submitted.at_ms, attempt.enqueued.at_ms) == (5, 6)
        assert (attempt.active.at_ms, attempt.ended.at_ms, attempt.actual) == (8, 20, 33)
        assert attempt.ended_well
        assert evidence.worker_of(attempt) == "worker-1"
        assert [weight for _, weight in evidence.tenants["acme"].weights] == [3]
        assert changes(evidence.tenants["acme"].waiting) == [(5, 1), (8, -1)]
        assert changes(evidence.tenants["acme"].queued) == [(5, 1), (6, -1)]

    def test_a_throttled_task_waits_again_and_is_queued_when_its_pause_is_over(self):
        stream = Stream(("acme", 1))
        stream.submit(0, "acme", "t1")
        first = stream.hand(1, "acme", "t1")
        stream.start(2, "acme", "t1", first)
        stream.end(3, "acme", "t1", first, "throttled", 0, "pending", not_before=23)
        stream.add(23, "dispatch", ("ready", "acme", "t1"), ("enqueued", "acme", "t1", 2, 10, 10, "w1", 0.0, 0))
        stream.start(24, "acme", "t1", 2)
        stream.end(30, "acme", "t1", 2)
        evidence = stream.evidence()

        task = evidence.tasks[TaskRef("acme", "t1")]
        assert [attempt.state for attempt in task.attempts] == [AttemptState.THROTTLED, AttemptState.COMPLETED]
        assert changes(evidence.tenants["acme"].waiting) == [(0, 1), (2, -1), (3, 1), (24, -1)]
        assert changes(evidence.tenants["acme"].queued) == [(0, 1), (1, -1), (23, 1), (23, -1)]

    def test_a_task_cancelled_while_pending_stops_waiting(self):
        stream = Stream(("acme", 1))
        stream.submit(0, "acme", "t1")
        stream.end(9, "acme", "t1", 0, "cancelled", 0, "cancelled")
        evidence = stream.evidence()

        task = evidence.tasks[TaskRef("acme", "t1")]
        assert (task.state, task.ended.at_ms, task.attempts) == (TaskState.CANCELLED, 9, [])
        assert changes(evidence.tenants["acme"].waiting) == [(0, 1), (9, -1)]
        assert changes(evidence.tenants["acme"].queued) == [(0, 1), (9, -1)]

    def test_an_attempt_handed_back_before_its_start_never_stopped_waiting(self):
        stream = Stream(("acme", 1))
        stream.submit(0, "acme", "t1")
        fence = stream.hand(1, "acme", "t1")
        stream.end(4, "acme", "t1", fence, "returned", 0, "pending")
        evidence = stream.evidence()

        assert changes(evidence.tenants["acme"].waiting) == [(0, 1)]
        assert changes(evidence.tenants["acme"].queued) == [(0, 1), (1, -1), (4, 1)]


class TestPoolRows:
    def test_capacity_parking_and_pauses(self):
        stream = Stream(("acme", 1))
        stream.add(3, "adapt", ("capacity", 4, 2, "throttled"))
        stream.add(4, "dispatch", ("parked", "acme", "slots"))
        stream.add(9, "settle", ("released", "acme", -7))
        stream.add(10, "throttle", ("paused", 510))
        stream.add(11, "settle", ("epoch", 2))
        stream.add(12, "pause", ("resumed",))
        evidence = stream.evidence()

        assert [(row.at.at_ms, row.before, row.after, row.reason) for row in evidence.capacity] == [
            (3, 4, 2, "throttled")
        ]
        ((since, until, reason),) = evidence.tenants["acme"].parked
        assert (since.at_ms, until.at_ms, reason) == (4, 9, "slots")
        assert list(evidence.tenants["acme"].deficits.values()) == [-7]
        assert [(at.at_ms, until) for at, until in evidence.paused] == [(10, 510)]
        assert [at.at_ms for at in evidence.epochs] == [11]
        assert [at.at_ms for at in evidence.resumed] == [12]


class TestBudgetRows:
    def test_budgets_as_they_were_put_and_topped_up(self):
        stream = Stream()
        stream.add(1, "put_tenants", ("tenant", "acme", 1, 0, 0), ("budget", "acme", 200))
        stream.add(5, "top_up", ("budget", "acme", 250))
        stream.add(9, "put_tenants", ("tenant", "acme", 1, 0, 0))
        trace = stream.evidence().tenants["acme"]
        assert [(at.at_ms, limit) for at, limit in trace.budgets] == [(1, None), (1, 200), (5, 250), (9, None)]

    def test_a_new_period(self):
        stream = Stream(("acme", 1))
        stream.add(1_000, "dispatch", ("period", "acme", 2))
        ((at, number),) = stream.evidence().tenants["acme"].periods
        assert (at.at_ms, number) == (1_000, 2)

    def test_late_usage_belongs_to_the_attempt_that_was_taken_away(self):
        stream = Stream(("acme", 1))
        stream.submit(0, "acme", "t1")
        first = stream.hand(1, "acme", "t1")
        stream.start(2, "acme", "t1", first)
        stream.end(30, "acme", "t1", first, "lost", 0, "pending")
        stream.add(31, "settle", ("late", "acme", "t1", first, 12))
        (use,) = stream.evidence().tenants["acme"].late
        assert (use.at.at_ms, use.ref, use.fence, use.actual) == (31, TaskRef("acme", "t1"), first, 12)

    def test_late_usage_of_a_running_attempt_is_refused(self):
        stream = Stream(("acme", 1))
        stream.submit(0, "acme", "t1")
        fence = stream.hand(1, "acme", "t1")
        stream.add(2, "settle", ("late", "acme", "t1", fence, 12))
        with pytest.raises(MalformedEvent, match="not taken away"):
            stream.evidence()

    @pytest.mark.parametrize("reason", [each.value for each in ParkReason])
    def test_every_reason_to_be_parked(self, reason):
        stream = Stream(("acme", 1))
        stream.add(4, "dispatch", ("parked", "acme", reason))
        stream.add(9, "dispatch", ("released", "acme", 0))
        ((_, until, why),) = stream.evidence().tenants["acme"].parked
        assert (until.at_ms, why.value) == (9, reason)

    def test_a_task_rejected_for_its_budget_never_had_an_attempt(self):
        stream = Stream(("acme", 1))
        stream.submit(0, "acme", "t1")
        stream.end(5, "acme", "t1", 0, "rejected", 0, "rejected")
        evidence = stream.evidence()
        task = evidence.tasks[TaskRef("acme", "t1")]
        assert (task.state, task.attempts, task.ended.at_ms) == (TaskState.REJECTED, [], 5)
        assert changes(evidence.tenants["acme"].queued) == [(0, 1), (5, -1)]


class TestTrust:
    def test_a_gap_in_the_numbers_is_recorded(self):
        stream = Stream(("acme", 1))
        for number in range(5):
            stream.submit(number, "acme", f"t{number}")
        recorder = Recorder()
        recorder.read(stream.events[:3])
        recorder.read(stream.events[4:])
        assert recorder.evidence.gap == "event 3 is followed by 5"

    def test_a_complete_stream_has_none(self):
        stream = Stream(("acme", 1))
        stream.submit(0, "acme", "t1")
        evidence = stream.evidence()
        assert (evidence.gap, evidence.first_number, evidence.last_number) == (None, 1, 2)

    @pytest.mark.parametrize(
        "row",
        [
            ("surprise", "acme"),
            ("active", "acme", "t1", 99),
            ("enqueued", "acme", "unknown", 1, 10, 10, "w1", 0.0, 0),
            ("pending", "acme", "t1", "10", 100),
            ("parked", "acme", "mood"),
            ("budget", "acme", "200"),
            ("period", "acme"),
            ("late", "acme", "t1", 99, 5),
            ("resumed", "acme"),
            (),
        ],
        ids=lambda row: str(row[:1]),
    )
    def test_a_row_outside_the_contract_is_refused(self, row):
        with pytest.raises(MalformedEvent):
            Recorder().read([decode_event("1-1", 1, 1, "submit", (row,))])

    def test_an_attempt_cannot_end_twice(self):
        stream = Stream(("acme", 1))
        stream.run("acme", "t1", handed=1, until=5)
        stream.end(6, "acme", "t1", 1)
        with pytest.raises(MalformedEvent, match="ended before"):
            stream.evidence()
