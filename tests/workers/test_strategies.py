"""The order in which each strategy chooses workers, by example."""

import gc
import statistics
import time
from collections import Counter, deque
from collections.abc import Iterator
from itertools import pairwise

import pytest

from fairlane.domain.strategy_name import StrategyName
from fairlane.workers import Candidate, make_strategy
from tests.support.strategy_candidates import IN_TURN, STRATEGIES, Candidates, idle

LEAST_BUSY = [StrategyName.LEAST_BUSY, StrategyName.LEAST_BUSY_EWMA]
WEIGHTED = [StrategyName.WEIGHTED, StrategyName.WEIGHTED_RANDOM]
SEEDS = range(5)


@pytest.mark.parametrize("strategy", STRATEGIES)
class TestEveryStrategy:
    def test_removing_and_undoing_an_unknown_worker_are_no_errors(self, strategy: str) -> None:
        workers = Candidates(strategy, *idle("a"))
        workers.strategy.choose()
        workers.strategy.remove("a")
        workers.strategy.remove("a")
        workers.strategy.undo("a")
        assert workers.strategy.choose() is None

    def test_the_same_seed_makes_the_same_choices(self, strategy: str) -> None:
        one, two = (Candidates(strategy, *idle("a", "b", "c", "d"), seed=7) for _ in range(2))
        assert one.serve(100) == two.serve(100)

    def test_several_choosers_do_not_begin_with_the_same_worker(self, strategy: str) -> None:
        firsts = {Candidates(strategy, *idle(*"abcdefgh"), seed=seed).begin() for seed in range(40)}
        assert len(firsts) > 4


class TestRoundRobin:
    def test_weight_and_load_do_not_matter(self) -> None:
        workers = [Candidate("a", 100, load=90, weight=50), Candidate("b", 100), Candidate("c", 200, weight=7)]
        order = Candidates(StrategyName.ROUND_ROBIN, *workers).serve(30)
        assert Counter(order) == {"a": 10, "b": 10, "c": 10}

    def test_a_turn_of_several_tasks_is_made_up_for(self) -> None:
        strategy = Candidates(StrategyName.ROUND_ROBIN, *idle("a", "b", capacity=100)).strategy
        first = strategy.choose(tasks=5)
        assert {strategy.choose() for _ in range(4)} == {"a", "b"} - {first}


class TestWhoWasAway:
    """Nobody makes up for turns before it came, whatever it was that kept it away."""

    @pytest.mark.parametrize("strategy", IN_TURN)
    @pytest.mark.parametrize("seed", SEEDS)
    def test_a_worker_that_joins_returns_or_was_full_is_owed_nothing(self, strategy: str, seed: int) -> None:
        workers = Candidates(strategy, *idle("a", "b", "c", "away", "full"), seed=seed)
        workers.change("away", ready=False)
        workers.change("full", load=4)
        workers.serve(1_000)
        workers.change("away", ready=True)
        workers.change("full", load=0)
        workers.put(Candidate("new", 4))
        counts = Counter(workers.serve(60))
        assert all(abs(counts[name] - 10) <= 1 for name in workers.now)

    def test_a_worker_that_joins_gets_no_turns_at_the_expense_of_a_plan(self) -> None:
        workers = Candidates(StrategyName.ROUND_ROBIN, *idle("a", "b", capacity=1_000))
        workers.serve(500)
        workers.put(Candidate("new", 1_000))
        plan = Counter(workers.strategy.choose() for _ in range(30))
        assert all(abs(plan[name] - 10) <= 1 for name in workers.now)

    def test_being_away_wins_no_turn(self) -> None:
        workers = Candidates(StrategyName.ROUND_ROBIN, *idle("a", "b", "c", "d"))
        order = []
        for _ in range(100):
            order += workers.serve(1)
            workers.change(order[-1], ready=False)
            workers.change(order[-1], ready=True)
        assert set(Counter(order).values()) == {25}


class TestWeighted:
    def test_the_turns_are_spread_evenly(self) -> None:
        order = Candidates(StrategyName.WEIGHTED, Candidate("a", 4, weight=5), *idle("b", "c")).serve(70)
        assert Counter(order) == {"a": 50, "b": 10, "c": 10}
        gaps = [after - before for before, after in pairwise(n for n, name in enumerate(order) if name == "a")]
        assert max(gaps) <= 3

    def test_a_weight_that_rises_counts_from_then_on(self) -> None:
        workers = Candidates(StrategyName.WEIGHTED, *idle("a", "b"))
        workers.serve(501)
        workers.change("a", weight=1_000)
        counts = Counter(workers.serve(1_001))
        assert abs(counts["b"] - 1) <= 1

    def test_one_that_is_full_after_each_task_gets_its_turn_whenever_it_is_free(self) -> None:
        workers = Candidates(StrategyName.WEIGHTED, Candidate("small", 1, weight=1_000), Candidate("large", 10_000))
        order = []
        for _ in range(50):
            order += [workers.begin(), workers.begin()]
            workers.end("small")
        assert Counter(order) == {"small": 50, "large": 50}


class TestWeightedRandom:
    def test_extreme_weights_are_found(self) -> None:
        workers = Candidates(StrategyName.WEIGHTED_RANDOM, Candidate("a", 4, weight=10**6), Candidate("b", 4, weight=1))
        assert Counter(workers.serve(1_000))["a"] >= 995

    @pytest.mark.parametrize("part", [0.0, 0.5, 1.0])
    def test_the_ends_of_what_chance_may_say_are_choices_too(self, part: float) -> None:
        class Chance:
            def __init__(self) -> None:
                self.parts = [part]

            def uniform(self, low: float, high: float) -> float:
                return low + (self.parts.pop() if self.parts else 0.0) * (high - low)

        strategy = make_strategy(StrategyName.WEIGHTED_RANDOM, Chance())
        for name, weight in {"a": 1, "b": 5, "c": 100}.items():
            strategy.put(Candidate(name, 1, weight=weight))
        assert strategy.choose() in {"a", "b", "c"}

    def test_a_draw_beyond_the_last_worker_is_repeated(self) -> None:
        class Chance:
            def __init__(self) -> None:
                self.parts = [0.0, 0.0, 1.0]

            def uniform(self, low: float, high: float) -> float:
                return low + self.parts.pop() * (high - low)

        strategy = make_strategy(StrategyName.WEIGHTED_RANDOM, Chance())
        strategy.put(Candidate("a", 1, weight=3))
        assert strategy.choose() == "a"

    def test_a_source_that_never_hits_a_worker_does_not_hold_up_the_choice(self) -> None:
        class Middle:
            def uniform(self, low: float, high: float) -> float:
                return (low + high) / 2

        strategy = make_strategy(StrategyName.WEIGHTED_RANDOM, Middle())
        for name in "abc":
            strategy.put(Candidate(name, 1))
        assert [strategy.choose() for _ in range(4)] == ["b", "c", "a", None]


class TestLeastBusy:
    @pytest.mark.parametrize("strategy", LEAST_BUSY)
    def test_the_smallest_part_of_the_slots_in_use(self, strategy: str) -> None:
        workers = Candidates(
            strategy, Candidate("a", 10, load=5), Candidate("b", 100, load=40), Candidate("c", 2, load=1)
        )
        assert [workers.begin() for _ in range(8)] == ["b"] * 8

    @pytest.mark.parametrize("strategy", LEAST_BUSY)
    def test_choices_are_spread_by_capacity_before_any_put(self, strategy: str) -> None:
        workers = Candidates(strategy, Candidate("a", 10), Candidate("b", 30))
        assert Counter(workers.strategy.choose() for _ in range(20)) == {"a": 5, "b": 15}


FEW, MANY = 10, 10_000
ROUNDS = 41
TASKS = 300
RATIO = 3.0


class Load:
    """Workers under load: each task begins by a choice and a put, and a put ends the one that is oldest."""

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


@pytest.mark.no_cover  # it would measure the tracer
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
