"""Which worker each strategy chooses, example by example."""

from collections import Counter
from itertools import pairwise

import pytest

from fairlane.clock import system_rng
from fairlane.domain.strategy_name import StrategyName
from fairlane.workers import Candidate, make_strategy
from tests.support.strategy_candidates import IN_TURN, STRATEGIES, Candidates, idle

LEAST_BUSY = [StrategyName.LEAST_BUSY, StrategyName.LEAST_BUSY_EWMA]
WEIGHTED = [StrategyName.WEIGHTED, StrategyName.WEIGHTED_RANDOM]
SEEDS = range(5)


@pytest.mark.parametrize("strategy", STRATEGIES)
class TestEveryStrategy:
    def test_without_workers_there_is_nobody_to_choose(self, strategy: str) -> None:
        assert Candidates(strategy).begin() is None

    def test_who_is_not_ready_or_full_is_not_chosen(self, strategy: str) -> None:
        workers = Candidates(
            strategy, Candidate("away", 4, ready=False), Candidate("full", 4, load=4), Candidate("fit", 4)
        )
        assert {workers.strategy.choose() for _ in range(4)} == {"fit"}

    def test_when_all_are_full_there_is_nobody_to_choose(self, strategy: str) -> None:
        workers = Candidates(strategy, *idle("a", "b", capacity=2))
        assert Counter(workers.begin() for _ in range(5)) == {"a": 2, "b": 2, None: 1}

    def test_a_choice_counts_as_load_until_the_worker_is_put(self, strategy: str) -> None:
        workers = Candidates(strategy, Candidate("a", 2))
        assert workers.strategy.choose(tasks=2) == "a"
        assert workers.strategy.choose() is None
        workers.change("a", load=1)
        assert workers.strategy.choose() == "a"

    def test_what_is_undone_frees_the_slots(self, strategy: str) -> None:
        workers = Candidates(strategy, Candidate("a", 2))
        assert workers.strategy.choose(tasks=5) == "a"
        workers.strategy.undo("a", 3)
        assert workers.strategy.choose() is None
        workers.strategy.undo("a", 1)
        assert workers.strategy.choose() == "a"

    def test_who_became_able_is_chosen(self, strategy: str) -> None:
        workers = Candidates(strategy, Candidate("a", 1, load=1, ready=False))
        workers.change("a", ready=True)
        assert workers.begin() is None
        workers.end("a")
        assert workers.begin() == "a"

    def test_who_was_removed_is_not_chosen(self, strategy: str) -> None:
        workers = Candidates(strategy, *idle("a", "b"))
        workers.strategy.remove("a")
        assert {workers.begin() for _ in range(4)} == {"b"}

    def test_removing_and_undoing_an_unknown_worker_are_no_errors(self, strategy: str) -> None:
        workers = Candidates(strategy, *idle("a"))
        workers.strategy.choose()
        workers.strategy.remove("a")
        workers.strategy.remove("a")
        workers.strategy.undo("a")
        assert workers.strategy.choose() is None

    def test_a_removed_worker_may_come_again(self, strategy: str) -> None:
        workers = Candidates(strategy, *idle("a"))
        workers.strategy.remove("a")
        workers.put(Candidate("a", 1))
        assert workers.begin() == "a"

    def test_who_is_to_be_avoided_is_not_chosen_and_stays_in(self, strategy: str) -> None:
        workers = Candidates(strategy, *idle("a", "b", "c"))
        assert workers.strategy.choose({"a", "b", "unknown"}) == "c"
        workers.strategy.undo("c")
        assert workers.strategy.choose(["a", "b", "c"]) is None
        assert set(workers.serve(60)) == {"a", "b", "c"}

    def test_the_same_seed_makes_the_same_choices(self, strategy: str) -> None:
        one, two = (Candidates(strategy, *idle("a", "b", "c", "d"), seed=7) for _ in range(2))
        assert one.serve(100) == two.serve(100)

    def test_several_choosers_do_not_begin_with_the_same_worker(self, strategy: str) -> None:
        firsts = {Candidates(strategy, *idle(*"abcdefgh"), seed=seed).begin() for seed in range(40)}
        assert len(firsts) > 4


class TestRoundRobin:
    def test_one_after_the_other(self) -> None:
        order = Candidates(StrategyName.ROUND_ROBIN, *idle("a", "b", "c")).serve(9)
        assert set(order[:3]) == {"a", "b", "c"}
        assert order[:3] == order[3:6] == order[6:]

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
    def test_a_newcomer_is_owed_nothing(self, strategy: str, seed: int) -> None:
        workers = Candidates(strategy, *idle("a", "b", "c"), seed=seed)
        workers.serve(1_000)
        workers.put(Candidate("new", 4))
        counts = Counter(workers.serve(40))
        assert all(abs(counts[name] - 10) <= 1 for name in ("a", "b", "c", "new"))

    @pytest.mark.parametrize("strategy", IN_TURN)
    @pytest.mark.parametrize("seed", SEEDS)
    def test_one_that_comes_back_is_owed_nothing(self, strategy: str, seed: int) -> None:
        workers = Candidates(strategy, *idle("a", "b", "c", "d"), seed=seed)
        workers.change("d", ready=False)
        workers.serve(1_000)
        workers.change("d", ready=True)
        counts = Counter(workers.serve(40))
        assert all(abs(counts[name] - 10) <= 1 for name in "abcd")

    @pytest.mark.parametrize("strategy", LEAST_BUSY)
    def test_one_that_was_busy_for_long_is_owed_nothing(self, strategy: str) -> None:
        workers = Candidates(strategy, *idle("a", "b", "c"))
        workers.change("c", load=3)
        workers.serve(1_000)
        workers.change("c", load=0)
        counts = Counter(workers.serve(30))
        assert all(abs(counts[name] - 10) <= 1 for name in "abc")

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

    def test_a_weight_that_falls_counts_from_then_on(self) -> None:
        workers = Candidates(StrategyName.WEIGHTED, Candidate("a", 4, weight=1_000), Candidate("b", 4, weight=1_000))
        workers.serve(501)
        workers.change("a", weight=1)
        counts = Counter(workers.serve(2_002))
        assert abs(counts["a"] - 2) <= 1

    def test_capacity_bounds_what_the_weight_would_give(self) -> None:
        workers = Candidates(StrategyName.WEIGHTED, Candidate("a", 1, weight=9), Candidate("b", 100))
        assert Counter(workers.begin() for _ in range(10)) == {"a": 1, "b": 9}

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

    def test_a_changed_weight_counts(self) -> None:
        workers = Candidates(StrategyName.WEIGHTED_RANDOM, *idle("a", "b"))
        workers.change("a", weight=10**6)
        assert Counter(workers.serve(1_000))["a"] >= 995

    @pytest.mark.parametrize("part", [0.0, 0.5, 1.0])
    def test_the_ends_of_what_chance_may_say_are_choices_too(self, part: float) -> None:
        class Chance:
            def __init__(self) -> None:
                self.told = [part]

            def uniform(self, low: float, high: float) -> float:
                return low + (self.told.pop() if self.told else 0.0) * (high - low)

        strategy = make_strategy(StrategyName.WEIGHTED_RANDOM, Chance())
        for name, weight in {"a": 1, "b": 5, "c": 100}.items():
            strategy.put(Candidate(name, 1, weight=weight))
        assert strategy.choose() in {"a", "b", "c"}

    def test_a_draw_beyond_the_last_worker_is_repeated(self) -> None:
        class Chance:
            def __init__(self) -> None:
                self.told = [0.0, 0.0, 1.0]

            def uniform(self, low: float, high: float) -> float:
                return low + self.told.pop() * (high - low)

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

    def test_ties_are_broken_by_turns(self) -> None:
        order = Candidates(StrategyName.LEAST_BUSY, *idle("a", "b"), Candidate("c", 50)).serve(9)
        assert order[:3] == order[3:6] == order[6:]

    def test_equal_parts_of_unequal_capacities_are_a_tie(self) -> None:
        workers = Candidates(StrategyName.LEAST_BUSY, Candidate("a", 10, load=3), Candidate("b", 100, load=30))
        assert Counter(workers.serve(10)) == {"a": 5, "b": 5}


def test_a_strategy_takes_chance_from_its_source_alone() -> None:
    rng = system_rng(3)
    workers = Candidates(StrategyName.WEIGHTED_RANDOM, *idle("a", "b", "c"), seed=3)
    before = workers.serve(20)
    rng.uniform(0, 1)
    assert Candidates(StrategyName.WEIGHTED_RANDOM, *idle("a", "b", "c"), seed=3).serve(20) == before
