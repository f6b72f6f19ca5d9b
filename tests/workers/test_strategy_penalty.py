"""The penalty of `least-busy-ewma`: its size, and its decay."""

from collections import Counter, defaultdict
from collections.abc import Callable

import pytest

from fairlane.domain.strategy_name import StrategyName
from fairlane.workers import Candidate
from fairlane.workers.members.metrics import MetricsAccumulator
from tests.support.strategy_candidates import Candidates, idle

EWMA = StrategyName.LEAST_BUSY_EWMA


class Service:
    """Tasks that come one after the other; how each ends is made up, and reported as a worker's own figures."""

    def __init__(self, *workers: Candidate) -> None:
        self.workers = Candidates(EWMA, *workers)
        self.figures: dict[str, MetricsAccumulator] = defaultdict(MetricsAccumulator)
        self.ended: Counter[str] = Counter()

    def execute(self, tasks: int, *, latency_s: float = 1.0, well: bool = True) -> Counter[str]:
        """Return how many tasks each worker got, all of which ended like this."""
        return self.execute_as(tasks, lambda _: (latency_s, well))

    def execute_as(self, tasks: int, end: Callable[[str], tuple[float, bool]]) -> Counter[str]:
        counts: Counter[str] = Counter()
        for _ in range(tasks):
            chosen = self.workers.begin()
            assert chosen is not None
            counts[chosen] += 1
            latency_s, well = end(chosen)
            self.figures[chosen].record(latency_s, succeeded=well)
            self.ended[chosen] += 1
            self.tell(chosen, load=0)
        return counts

    def restart(self, worker_id: str) -> None:
        self.figures[worker_id].reset_averages()
        self.tell(worker_id)

    def tell(self, worker_id: str, **fields: object) -> None:
        read = self.figures[worker_id].read()
        known = {"latency_s": read.latency_s, "error_rate": read.error_rate, "ended": self.ended[worker_id]}
        self.workers.change(worker_id, **known, **fields)


def _pair() -> Service:
    return Service(*idle("a", "b"))


class TestBias:
    @pytest.mark.parametrize("known", [{"latency_s": 3.0, "error_rate": 0.0}, {"error_rate": 0.5}])
    def test_who_is_slow_or_fails_counts_as_busier(self, known: dict[str, float]) -> None:
        good = Candidate("good", 10, load=1, latency_s=1.0, error_rate=0.0)
        workers = Candidates(EWMA, good, Candidate("bad", 10)._replace(**known))
        assert workers.begin() == "good"

    def test_the_bias_is_bounded(self) -> None:
        good = Candidate("good", 1_000, load=900, latency_s=0.001, error_rate=0.0)
        worst = Candidate("worst", 1_000, latency_s=10.0**9, error_rate=1.0)
        workers = Candidates(EWMA, good, worst)
        counts = Counter(workers.begin() for _ in range(90))
        assert counts == {"worst": 30, "good": 60}

    def test_one_that_fails_at_once_does_not_attract_the_tasks(self) -> None:
        workers = Candidates(EWMA, Candidate("broken", 4), *idle("a", "b"))
        for ended in range(50):
            workers.change("broken", latency_s=0.0, error_rate=1.0, ended=ended)
            workers.change("a", latency_s=1.0, error_rate=0.0, ended=ended)
            workers.change("b", latency_s=1.0, error_rate=0.0, ended=ended)
        assert set(workers.serve(50)) == {"a", "b"}

    def test_workers_that_differ_by_little_take_turns(self) -> None:
        workers = Candidates(EWMA, *idle("a", "b"))
        for ended in range(50):
            workers.change("a", latency_s=1.0, error_rate=0.0, ended=ended)
            workers.change("b", latency_s=1.3, error_rate=0.02, ended=ended)
        assert Counter(workers.serve(10)) == {"a": 5, "b": 5}

    def test_no_time_at_all_is_no_division_by_zero(self) -> None:
        workers = Candidates(EWMA, Candidate("a", 4, latency_s=0.0, error_rate=0.0), Candidate("b", 4, latency_s=0.0))
        assert Counter(workers.serve(10)) == {"a": 5, "b": 5}

    def test_who_becomes_slow_loses_tasks_and_gets_them_back(self) -> None:
        workers = Candidates(EWMA, *idle("a", "b", capacity=100))
        for _ in range(100):
            workers.change("a", latency_s=1.0, error_rate=0.0)
            workers.change("b", latency_s=1.0, error_rate=0.0)
        assert Counter(workers.begin() for _ in range(20)) == {"a": 10, "b": 10}
        workers.change("b", latency_s=4.0)
        assert Counter(workers.begin() for _ in range(10)) == {"a": 10}
        workers.change("b", latency_s=1.0)
        assert workers.begin() == "b"


class TestItFades:
    """Nobody is condemned: what is known of a worker grows old while others get its turns."""

    def test_one_failure_is_soon_forgiven(self) -> None:
        service = _pair()
        service.execute(1, well=False)
        counts = service.execute(999)
        assert abs(counts["a"] - counts["b"]) < 30

    def test_one_that_always_fails_is_tried_now_and_then(self) -> None:
        service = _pair()
        counts = service.execute_as(1_000, lambda name: (1.0, name == "b"))
        assert 10 <= counts["a"] <= 50

    def test_one_that_is_always_slow_gets_few_of_the_tasks_that_come_one_by_one(self) -> None:
        service = _pair()
        counts = service.execute_as(1_000, lambda name: (4.0 if name == "a" else 1.0, True))
        assert 20 <= counts["a"] <= 100

    def test_one_that_was_started_anew_gets_as_many_as_any_other(self) -> None:
        service = _pair()
        service.execute_as(200, lambda name: (1.0, name == "b"))
        service.restart("a")
        counts = service.execute(100)
        assert abs(counts["a"] - counts["b"]) <= 2

    def test_nothing_fades_while_something_runs(self) -> None:
        workers = Candidates(EWMA, Candidate("a", 4, load=1, error_rate=1.0, ended=9), Candidate("b", 4, load=1))
        assert set(workers.serve(500)) == {"b"}
        workers.end("a")
        assert set(workers.serve(500)) == {"a", "b"}

    def test_health_reports_are_no_news(self) -> None:
        service = _pair()
        service.execute_as(200, lambda name: (1.0, name == "b"))
        counts: Counter[str] = Counter()
        for _ in range(500):
            service.tell("a")
            counts += service.execute(1)
        assert counts["a"] > 200

    def test_more_capacity_counts_at_once_and_keeps_the_bias(self) -> None:
        workers = Candidates(EWMA, Candidate("a", 4, error_rate=1.0, ended=9), Candidate("b", 4))
        assert workers.begin() == "b"
        workers.change("a", capacity=64)
        assert workers.begin() == "a"

    def test_one_that_left_while_its_bias_faded_begins_anew(self) -> None:
        service = _pair()
        service.execute_as(30, lambda name: (1.0, name == "b"))
        service.workers.strategy.remove("a")
        service.figures.pop("a")
        assert service.execute_as(100, lambda _: (1.0, True)) == {"b": 100}
        service.workers.put(Candidate("a", 4))
        assert service.execute(20)["a"] >= 9
