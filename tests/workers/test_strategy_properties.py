"""What holds for every strategy, and for the heap below them, in any sequence of calls."""

from collections import Counter
from collections.abc import Callable
from math import sqrt
from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from fairlane.domain.strategy_name import StrategyName
from fairlane.workers import Candidate
from fairlane.workers.strategies.heap import AddressableHeap
from tests.support.strategy_candidates import IN_TURN, STRATEGIES, Candidates

NAMES = st.sampled_from("abcdef")
CANDIDATES = st.builds(
    Candidate,
    id=NAMES,
    capacity=st.integers(1, 5),
    load=st.integers(0, 5),
    ready=st.booleans(),
    weight=st.integers(1, 9) | st.just(10**6),
    latency_s=st.none() | st.floats(0, 100),
    error_rate=st.none() | st.floats(0, 1),
)
PUTS = st.tuples(st.just("put"), CANDIDATES)
STEPS = st.lists(
    PUTS
    | st.tuples(st.just("remove"), NAMES)
    | st.tuples(st.just("choose"), st.sets(NAMES, max_size=3), st.integers(1, 3))
    | st.tuples(st.just("undo"), st.integers(0, 5)),
    max_size=60,
)
SEEDS = st.integers(0, 2**32)


class Model:
    """A strategy, and each worker's free slots by the contract: those of its last put, less the choices since."""

    def __init__(self, strategy: str, seed: int) -> None:
        self.workers = Candidates(strategy, seed=seed)
        self.free: dict[str, int] = {}
        self.chosen: list[tuple[str, int]] = []
        """Choices that can be undone."""

    def put(self, candidate: Candidate) -> None:
        self.workers.put(candidate)
        self.free[candidate.id] = candidate.capacity - candidate.load if candidate.ready else 0
        self._confirm(candidate.id)

    def remove(self, worker_id: str) -> None:
        self.workers.strategy.remove(worker_id)
        self.free.pop(worker_id, None)
        self._confirm(worker_id)

    def choose(self, avoid: set[str], tasks: int) -> None:
        eligible = {name for name, free in self.free.items() if free > 0} - avoid
        chosen = self.workers.strategy.choose(avoid, tasks)
        if chosen is None:
            assert not eligible
        else:
            assert chosen in eligible
            self.free[chosen] -= tasks
            self.chosen.append((chosen, tasks))

    def undo(self, which: int) -> None:
        if which < len(self.chosen):
            worker_id, tasks = self.chosen.pop(which)
            self.workers.strategy.undo(worker_id, tasks)
            self.free[worker_id] += tasks

    def _confirm(self, worker_id: str) -> None:
        self.chosen = [each for each in self.chosen if each[0] != worker_id]

    def follow(self, steps: list[tuple[object, ...]]) -> None:
        for name, *arguments in steps:
            step: Callable[..., None] = getattr(self, str(name))
            step(*arguments)


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(steps=STEPS, seed=SEEDS)
def test_somebody_available_is_chosen_if_there_is_anybody(
    strategy: str, steps: list[tuple[object, ...]], seed: int
) -> None:
    Model(strategy, seed).follow(steps)


@pytest.mark.parametrize("strategy", IN_TURN)
@given(steps=STEPS, seed=SEEDS, turns=st.lists(st.integers(1, 3), max_size=8), order=st.randoms(use_true_random=False))
def test_turns_that_are_undone_leave_nothing_behind(
    strategy: str, steps: list[tuple[object, ...]], seed: int, turns: list[int], order: Random
) -> None:
    one, two = Model(strategy, seed), Model(strategy, seed)
    for model in (one, two):
        model.follow(steps)
    chosen = [(one.workers.strategy.choose(tasks=tasks), tasks) for tasks in turns]
    order.shuffle(chosen)
    for worker_id, tasks in chosen:
        if worker_id is not None:
            one.workers.strategy.undo(worker_id, tasks)
    assert [one.workers.begin() for _ in range(20)] == [two.workers.begin() for _ in range(20)]


@pytest.mark.parametrize("strategy", [StrategyName.ROUND_ROBIN, StrategyName.LEAST_BUSY])
@given(size=st.integers(1, 30), tasks=st.integers(0, 200), seed=SEEDS)
def test_workers_that_are_alike_get_alike(strategy: str, size: int, tasks: int, seed: int) -> None:
    workers = Candidates(strategy, *(Candidate(f"w{n}", 3) for n in range(size)), seed=seed)
    counts = Counter(workers.serve(tasks))
    assert max(counts.values(), default=0) - min(counts[name] for name in workers.now) <= 1


@given(steps=st.lists(st.booleans(), max_size=300), size=st.integers(1, 8), seed=SEEDS)
def test_round_robin_is_fair_whatever_runs_at_once(steps: list[bool], size: int, seed: int) -> None:
    workers = Candidates(StrategyName.ROUND_ROBIN, *(Candidate(f"w{n}", 1_000) for n in range(size)), seed=seed)
    counts, running = Counter[str](), list[str]()
    for begins in steps:
        if begins:
            chosen = workers.begin()
            assert chosen is not None
            counts[chosen] += 1
            running.append(chosen)
        elif running:
            workers.end(running.pop(len(running) // 2))
    assert max(counts.values(), default=0) - min(counts[name] for name in workers.now) <= 1


@given(candidates=st.lists(CANDIDATES, max_size=20), tasks=st.integers(1, 30), seed=SEEDS)
def test_least_busy_chooses_none_that_is_busier_than_another(
    candidates: list[Candidate], tasks: int, seed: int
) -> None:
    workers = Candidates(StrategyName.LEAST_BUSY, *candidates, seed=seed)
    for _ in range(tasks):
        shares = {each.id: each.load / each.capacity for each in workers.now.values() if each.available}
        chosen = workers.begin()
        assert (chosen is None and not shares) or shares[chosen] == min(shares.values())


@pytest.mark.no_cover
@settings(max_examples=10, deadline=None)
@given(weights=st.lists(st.integers(1, 100), min_size=1, max_size=10), seed=SEEDS)
def test_weighted_follows_the_weights_within_half_a_turn_for_each_worker(weights: list[int], seed: int) -> None:
    workers = Candidates(
        StrategyName.WEIGHTED, *(Candidate(f"w{n}", 2, weight=w) for n, w in enumerate(weights)), seed=seed
    )
    counts = Counter(workers.serve(10_000))
    for n, weight in enumerate(weights):
        assert abs(counts[f"w{n}"] - 10_000 * weight / sum(weights)) <= max(2, len(weights) / 2)


@pytest.mark.no_cover
@settings(max_examples=10, deadline=None)
@given(weights=st.lists(st.integers(1, 100), min_size=1, max_size=10), seed=SEEDS)
def test_weighted_random_follows_the_weights_within_six_deviations(weights: list[int], seed: int) -> None:
    workers = (Candidate(f"w{n}", 2, weight=w) for n, w in enumerate(weights))
    counts = Counter(Candidates(StrategyName.WEIGHTED_RANDOM, *workers, seed=seed).serve(10_000))
    for n, weight in enumerate(weights):
        share = weight / sum(weights)
        assert abs(counts[f"w{n}"] - 10_000 * share) <= 6 * sqrt(10_000 * share * (1 - share)) + 1


NAMES = st.sampled_from("abcdef")
SHARES = st.sampled_from([0.0, 0.5, 1.0])


@given(
    steps=st.lists(
        st.tuples(st.just("put"), NAMES, SHARES, st.integers(0, 3)) | st.tuples(st.just("discard"), NAMES), max_size=200
    ),
    avoid=st.sets(NAMES, max_size=3),
)
def test_the_first_is_the_smallest_of_those_that_are_in(steps: list[tuple[str, ...]], avoid: set[str]) -> None:
    heap = AddressableHeap()
    keys: dict[str, tuple[object, ...]] = {}
    for step, name, *key in steps:
        getattr(heap, step)(name, *key)
        if step == "put":
            keys[name] = (*key, name)
        else:
            keys.pop(name, None)
        assert heap.first() == min(keys, key=keys.__getitem__, default=None)
        left = {each: key for each, key in keys.items() if each not in avoid}
        assert heap.first(avoid) == min(left, key=left.__getitem__, default=None)


@pytest.mark.parametrize("moved", ["up", "down"])
def test_what_is_moved_often_stays_in_order(moved: str) -> None:
    heap = AddressableHeap()
    for name in "abc":
        heap.put(name, 0.0, 0)
    heap.put("gone", 0.0, 5_000)
    heap.discard("gone")
    for n in range(1, 2_000):
        for name in "cba":
            heap.put(name, 0.0, n if moved == "up" else -n)
        heap.put("b", 0.5, n)
    order = []
    while (first := heap.first(order)) is not None:
        order.append(first)
    assert order == ["a", "c", "b"]
