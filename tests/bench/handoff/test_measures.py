"""Figures about killed dispatchers, on a stream whose figures can be counted by hand."""

from bench.handoff.measures import by_dispatcher, handoff, together
from bench.handoff.metrics import Handoff
from tests.bench.stream import Stream


class TestHandoff:
    def test_hand_overs_belong_to_the_kill_after_them(self):
        stream = Stream(("a", 1), ("b", 1))
        for number in range(4):
            stream.run("a", f"t{number}", handed=number, until=number)
        stream.run("b", "other", handed=5, until=5)
        stream.submit(6, "a", "t4")
        evidence = stream.evidence()
        # Two events register the tenants, then each task has four: submitted, handed over, started, ended.
        found = handoff(evidence, "a", kills=[(71, 5, 3), (72, 13, 2), (72, 14, 1)], results=4)
        assert (found.kills, found.processes) == (3, 2)
        assert found.handed_over_before == [1, 2, 0]
        assert found.unended_at == [3, 2, 1]
        assert (found.tasks, found.completed, found.results) == (5, 4, 4)
        assert found.attempts == {"completed": 4}

    def test_figures_of_several_schedulers_add_up(self):
        whole = {"kills": 1, "processes": 1, "tasks": 4, "completed": 3, "results": 3}
        one = Handoff(**whole, handed_over_before=[3], unended_at=[5], attempts={"completed": 3, "lost": 1})
        found = together([one, one.model_copy(update={"handed_over_before": [9], "attempts": {"completed": 4}})])
        assert (found.kills, found.processes, found.tasks, found.completed, found.results) == (2, 2, 8, 6, 6)
        assert (found.handed_over_before, found.unended_at) == ([3, 9], [5, 5])
        assert found.attempts == {"completed": 7, "lost": 1}

    def test_only_a_dispatcher_hands_over(self):
        stream = Stream(("a", 1))
        stream.run("a", "placed", handed=1, until=3)
        evidence = stream.evidence()
        (attempt,) = evidence.attempts.values()
        assert by_dispatcher(evidence, attempt)
        active, submitted = attempt.active, evidence.tasks[attempt.ref].submitted
        attempt.active = attempt.enqueued._replace(place=attempt.enqueued.place + 1)
        assert not by_dispatcher(evidence, attempt)  # a busy worker's turn
        attempt.active, evidence.tasks[attempt.ref].submitted = active, attempt.enqueued
        assert not by_dispatcher(evidence, attempt)  # a submit while nothing waited
        attempt.active, evidence.tasks[attempt.ref].submitted = None, submitted
        assert by_dispatcher(evidence, attempt)
