"""Choosing among 10,000 workers costs about what choosing among 10 costs: both in turn, in the same run."""

import gc
import statistics
import time
from collections import deque
from collections.abc import Iterator

import pytest

from fairlane.workers import Candidate
from tests.support.strategy_candidates import STRATEGIES, Candidates

FEW, MANY = 10, 10_000
ROUNDS = 41
TASKS = 300
RATIO = 3.0


class Load:
    """A workers at work: each task begins by a choice and a put, and a put ends the one that is oldest."""

    def __init__(self, strategy: str, workers: int) -> None:
        self.workers = Candidates(
            strategy,
            *(
                Candidate(f"w{n}", 8, weight=1 + n % 7, latency_s=0.1 + n % 5 / 100, error_rate=n % 3 / 100)
                for n in range(workers)
            ),
        )
        self.running: deque[str] = deque()
        for _ in range(3 * workers):
            self.begin()

    def begin(self) -> None:
        chosen = self.workers.begin()
        assert chosen is not None
        self.running.append(chosen)

    def round_s(self) -> float:
        """Serve some tasks and return the time this thread computed for it, per task."""
        began_s = time.thread_time()
        for _ in range(TASKS):
            self.begin()
            self.workers.end(self.running.popleft())
        return (time.thread_time() - began_s) / TASKS


@pytest.fixture
def no_garbage_collection() -> Iterator[None]:
    """Let what other tests left behind cost nothing here."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.usefixtures("no_garbage_collection")
def test_ten_thousand_workers_cost_at_most_three_times_as_much_as_ten(strategy: str) -> None:
    few, many = Load(strategy, FEW), Load(strategy, MANY)
    costs = [(few.round_s(), many.round_s()) for _ in range(ROUNDS)]
    few_s, many_s = (statistics.median(each) for each in zip(*costs, strict=True))
    assert many_s <= RATIO * few_s, f"{many_s * 1e6:.1f} us among {MANY}, {few_s * 1e6:.1f} us among {FEW}"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_workers_to_avoid_are_put_back_and_not_searched_for(strategy: str) -> None:
    workers = Candidates(strategy, *(Candidate(f"w{n}", 1) for n in range(MANY)))
    tried: list[str] = []
    while len(tried) < 20:
        chosen = workers.strategy.choose(tried)
        assert chosen is not None
        workers.strategy.undo(chosen)
        tried.append(chosen)
    assert len(set(tried)) == 20
