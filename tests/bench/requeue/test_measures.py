"""Figures about a throttled task, on streams whose figures can be counted by hand."""

import pytest

from bench.requeue.checks import NOTHING_HELD_FOR_IT
from bench.requeue.measures import requeue
from bench.requeue.metrics import RequeueMetrics
from bench.requeue.scenario import THROTTLE_REQUEUE
from fairlane.domain.events import ActiveRow
from fairlane.domain.task import TaskRef, TaskState, TaskView
from tests.bench.budget.test_measures import ledger
from tests.bench.stream import Stream


def view(state: TaskState, failures: int = 0) -> TaskView:
    return TaskView(TaskRef("a", "t"), state, 100, 10, 0, failures, 0, 1, 0, 0, 0, None, None, "", "")


class TestRequeue:
    def before_the_pause(self, *, paused: bool = True) -> Stream:
        """Task t is throttled at 100 for 500 ms; b was with a worker then, c and d wait behind it."""
        stream = Stream(("a", 1))
        for name in ("t", "b", "c", "d"):
            stream.submit(1, "a", name, 100, 10)
        throttled = stream.hand(50, "a", "t", 100)
        stream.start(60, "a", "t", throttled)
        stream.hand(70, "a", "b", 100)
        end = ("throttled", "a", "t", throttled, 0, 0, 1000, "pending", 0)
        stream.add(100, "throttle", *([("paused", 600), end] if paused else [end]))
        return stream

    def story(self, *, overtaken: bool = False, paused: bool = True) -> Stream:
        """After the pause everything is handed over, b started first, and completes."""
        stream, held = self.before_the_pause(paused=paused), 2
        order = ("c", "t", "d") if overtaken else ("t", "c", "d")
        fences = {name: stream.hand(601, "a", name, 100) for name in order}
        stream.start(602, "a", "b", held)
        for name in order:
            stream.start(603, "a", name, fences[name])
            stream.end(700, "a", name, fences[name], actual=100)
        stream.end(701, "a", "b", held, actual=100)
        return stream

    def judge(self, stream: Stream, **changes):
        whole = {
            "in_pause": ledger(limit=400, held=100),
            "at_event": len(self.before_the_pause().events),
            "asked_ms": 500,
            "view": view(TaskState.PENDING),
            "held_back": 3,
            "calls_seen": [1],
            "ledger": ledger(limit=400, spent=400),
        }
        return requeue(stream.evidence(), TaskRef("a", "t"), **(whole | changes))

    def test_everything_counted(self):
        found = self.judge(self.story())
        assert (found.task, found.attempts) == ("a:t", ["throttled", "completed"])
        assert (found.paused_ms, found.first_start_ms, found.starts_in_pause) == (500, 502, [])
        assert (found.state_in_pause, found.failures, found.held_back, found.calls_seen) == ("pending", 0, 3, [1])
        assert (found.held_before, found.held_after) == (100, 0)
        assert (found.overtaken_by, found.came_after, found.handed_over) == ([], 2, ["a:b"])
        assert (found.charged, found.cost) == (100, 100)
        assert (found.use.admitted, found.use.by_events, found.use.remaining) == (400, 400, 0)

    def test_an_amount_that_the_ledger_still_held_for_it(self):
        found = self.judge(self.story(), in_pause=ledger(limit=400, held=200))
        assert (found.held_before, found.held_after) == (100, 100)
        metrics = RequeueMetrics(requeue=found, potential_orphans=[], left_in_flight={}, violations=[])
        assert not NOTHING_HELD_FOR_IT.judge(THROTTLE_REQUEUE, metrics).passed

    def test_a_hand_over_after_the_ledger_was_read_does_not_count(self):
        stream = self.story()
        assert self.judge(stream, in_pause=ledger(limit=400), at_event=len(stream.events)).held_after == 0
        assert self.judge(stream, in_pause=ledger(limit=400), at_event=0).held_after == 0

    def test_a_task_that_overtook_it(self):
        found = self.judge(self.story(overtaken=True))
        assert (found.overtaken_by, found.came_after) == (["a:c"], 1)

    def test_a_start_during_the_pause(self):
        stream = self.story()
        stream.events = [
            each
            if not (isinstance(each.rows[0], ActiveRow) and each.rows[0].task == "b")
            else type(each)("0-1", each.number, 300, "start", each.rows)
            for each in stream.events
        ]
        found = self.judge(stream)
        assert (found.starts_in_pause, found.first_start_ms) == (["a:b"], 200)

    def test_without_a_pause_every_later_start_counts_as_a_start_in_it(self):
        found = self.judge(self.story(paused=False))
        assert (found.paused_ms, len(found.starts_in_pause)) == (None, 4)

    def test_a_task_that_met_no_throttle(self):
        stream = Stream(("a", 1))
        stream.run("a", "t", handed=1, until=9)
        with pytest.raises(ValueError, match="not throttled"):
            self.judge(stream)
