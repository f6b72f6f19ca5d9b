"""The order in which tasks were handed over and started, on streams whose order is known."""

from bench.budget.order import overtook, started, too_early
from tests.bench.stream import Stream


def waiting() -> Stream:
    """Submit x and y of priority 10 and z of priority 1."""
    stream = Stream(("a", 1))
    for name, priority in (("x", 10), ("y", 10), ("z", 1)):
        stream.submit(1, "a", name, 100, priority)
    return stream


class TestOrder:
    def started(self, *names: str) -> list[str]:
        """Start these tasks, one after the other."""
        stream = waiting()
        for at_ms, name in enumerate(names, 2):
            stream.start(at_ms, "a", name, stream.hand(at_ms, "a", name))
        return too_early(stream.evidence(), "a", started)

    def test_the_urgent_task_first(self):
        assert self.started("z", "x", "y") == []

    def test_a_task_before_the_urgent_one(self):
        assert self.started("x", "z", "y") == ["a:x"]

    def test_an_urgent_task_that_never_started(self):
        assert self.started("y") == ["a:y"]

    def test_a_start_before_everything_was_submitted(self):
        stream = Stream(("a", 1))
        stream.run("a", "x", handed=1, until=9)
        stream.submit(2, "a", "y")
        assert too_early(stream.evidence(), "a", started) == ["a:x"]


class TestOvertaking:
    def overtaking(self, *happens: tuple[str, str]) -> tuple[list[str], list[str]]:
        """Hand tasks to workers, or start them; return those that started too early, and those that overtook."""
        stream, fences = waiting(), {}
        for at_ms, (name, to) in enumerate(happens, 2):
            if to == "starts":
                stream.start(at_ms, "a", name, fences[name])
            else:
                fences[name] = stream.hand(at_ms, "a", name, to=to)
        evidence = stream.evidence()
        return too_early(evidence, "a", started), overtook(evidence, "a")

    def test_a_task_whose_worker_asked_sooner_did_not_overtake(self):
        found = self.overtaking(("z", "w1"), ("x", "w2"), ("x", "starts"), ("z", "starts"))
        assert found == (["a:x"], [])

    def test_a_task_that_starts_before_an_urgent_one_of_the_same_worker_overtook(self):
        found = self.overtaking(("z", "w1"), ("x", "w1"), ("x", "starts"), ("z", "starts"))
        assert found == (["a:x"], ["a:x"])

    def test_a_task_that_starts_before_an_urgent_one_is_handed_over_overtook(self):
        found = self.overtaking(
            ("x", "w2"), ("x", "starts"), ("z", "w1"), ("z", "starts"), ("y", "w1"), ("y", "starts")
        )
        assert found == (["a:x"], ["a:x"])

    def test_a_task_that_starts_before_all_were_submitted_overtook(self):
        stream = Stream(("a", 1))
        stream.run("a", "x", handed=1, until=9)
        stream.submit(2, "a", "y")
        assert overtook(stream.evidence(), "a") == ["a:x"]
