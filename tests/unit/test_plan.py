"""The dispatcher's plans: which workers are offered, how many tasks, in which order, and how unused turns end."""

from collections import Counter
from collections.abc import Collection
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from fairlane.clock import system_rng
from fairlane.domain.strategy_name import StrategyName
from fairlane.lifecycle.plan import Places, Planner
from fairlane.workers import Candidate, WorkerError, WorkerErrorCode, make_strategy

Workers = dict[str, tuple[int, int]]
NAMES = list(StrategyName)
WORKERS = st.dictionaries(
    st.sampled_from("abcdef"), st.integers(1, 100).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))
)


def planner(strategy: str, workers: Workers) -> Planner:
    made = Planner(make_strategy(strategy, system_rng(1)))
    made.know(workers)
    return made


def placed_along(plan: Places, tasks: int, free: dict[str, int]) -> Counter[str]:
    """Place tasks along a plan, as the store does."""
    placed: Counter[str] = Counter()
    for name, count in plan:
        taken = min(count, tasks, free[name] - placed[name])
        placed[name] += taken
        tasks -= taken
    return +placed


class Server:
    """Workers whose free slots only the store knows; a task stays until the test ends it."""

    def __init__(self, strategy: str, **slots: int) -> None:
        self.slots = slots
        self.free = dict(slots)
        self.planner = planner(strategy, {name: (count, count) for name, count in slots.items()})

    def dispatch(self, tasks: int, limit: int = 64) -> Counter[str]:
        placed = placed_along(self.planner.plan(limit), tasks, self.free)
        for name, count in placed.items():
            self.free[name] -= count
        self.planner.answered(placed.total(), dict(self.free))
        return placed

    def end(self, name: str) -> None:
        self.free[name] += 1
        self.planner.know({name: (self.slots[name], self.free[name]) for name in self.slots})


@pytest.mark.parametrize("strategy", NAMES)
@given(workers=WORKERS, limit=st.integers(0, 256))
def test_a_plan_offers_as_many_tasks_as_it_may_and_no_more(strategy: str, workers: Workers, limit: int) -> None:
    if not any(free for _, free in workers.values()):
        workers = {name: (slots, slots) for name, (slots, _) in workers.items()}
    offered = Counter[str]()
    for name, count in planner(strategy, workers).plan(limit):
        offered[name] += count
    assert all(count <= workers[name][1] for name, count in offered.items())
    assert offered.total() == min(limit, sum(free for _, free in workers.values()))


@pytest.mark.parametrize("strategy", NAMES)
def test_a_plan_names_the_workers_it_leaves_out_so_that_the_store_reports_them(strategy: str) -> None:
    plan = planner(strategy, {"full": (4, 0), "free": (4, 4)}).plan(8)
    assert plan == [("free", 4), ("full", 0)]


def test_at_most_32_are_named_beside_those_that_are_offered() -> None:
    plan = planner(StrategyName.ROUND_ROBIN, {f"w{n}": (1, 1) for n in range(100)}).plan(10)
    assert Counter(count for _, count in plan) == {1: 10, 0: 32}


@pytest.mark.parametrize("strategy", NAMES)
def test_all_workers_are_offered_when_all_were_full(strategy: str) -> None:
    assert sorted(planner(strategy, {"a": (1, 0), "b": (1, 0)}).plan(8)) == [("a", 1), ("b", 1)]


def test_without_workers_nothing_is_offered() -> None:
    assert planner(StrategyName.LEAST_BUSY, {}).plan(8) == []


def test_a_single_worker_is_offered_all_its_slots_at_once() -> None:
    assert planner(StrategyName.LEAST_BUSY, {"a": (100, 100)}).plan(64) == [("a", 64)]


@pytest.mark.parametrize("strategy", [StrategyName.ROUND_ROBIN, StrategyName.WEIGHTED, StrategyName.LEAST_BUSY])
@pytest.mark.parametrize("tasks", [1, 2, 3, 5, 17, 40, 64])
def test_few_and_many_tasks_are_spread_alike(strategy: str, tasks: int) -> None:
    placed = Server(strategy, a=100, b=100, c=100).dispatch(tasks)
    assert max(placed.values()) - min(placed[name] for name in "abc") <= 1 + tasks // 6


@pytest.mark.parametrize("strategy", [StrategyName.ROUND_ROBIN, StrategyName.WEIGHTED, StrategyName.LEAST_BUSY])
@given(workers=st.integers(2, 20), limit=st.integers(1, 256))
def test_a_plan_that_is_placed_completely_is_even(strategy: str, workers: int, limit: int) -> None:
    slots = {f"w{n}": 256 for n in range(workers)}
    placed = Server(strategy, **slots).dispatch(limit, limit)
    assert max(placed.values()) - min(placed[name] for name in slots) <= 1


@pytest.mark.parametrize("tasks", [1, 2, 5, 17, 64])
def test_least_busy_spreads_by_share(tasks: int) -> None:
    placed = Server(StrategyName.LEAST_BUSY, small=32, large=96).dispatch(tasks)
    assert abs(placed["small"] - tasks / 4) <= 1 + tasks / 4


def test_least_busy_fills_the_idle_worker_first() -> None:
    made = planner(StrategyName.LEAST_BUSY, {"busy": (10, 2), "idle": (10, 10)})
    assert placed_along(made.plan(8), 8, {"busy": 2, "idle": 10}) == {"idle": 8}


@pytest.mark.parametrize("strategy", [StrategyName.ROUND_ROBIN, StrategyName.LEAST_BUSY, StrategyName.LEAST_BUSY_EWMA])
def test_single_tasks_one_after_the_other_take_turns(strategy: str) -> None:
    server = Server(strategy, a=64, b=64, c=64)
    order = []
    for _ in range(30):
        (name,) = server.dispatch(1)
        order.append(name)
        server.end(name)
    assert len(set(order[:3])) == 3
    assert all(before == after for before, after in zip(order, order[3:], strict=False))


def test_single_tasks_one_after_the_other_follow_the_weights() -> None:
    server = Server(StrategyName.WEIGHTED, small=10, large=30)
    order = []
    for _ in range(40):
        (name,) = server.dispatch(1)
        order.append(name)
        server.end(name)
    assert Counter(order) == {"small": 10, "large": 30}
    assert ("small", "small") not in set(pairwise(order))


@given(bursts=st.lists(st.integers(0, 20), max_size=30))
def test_round_robin_counts_placed_tasks_not_offered_ones(bursts: list[int]) -> None:
    server = Server(StrategyName.ROUND_ROBIN, a=10_000, b=10_000, c=10_000)
    total = Counter[str]()
    for burst in bursts:
        total += server.dispatch(burst)
    assert max(total.values(), default=0) - min(total[name] for name in "abc") <= 1 + 20 // 6


def test_a_plan_without_an_answer_costs_no_worker_a_turn() -> None:
    made, twin = (planner(StrategyName.ROUND_ROBIN, {"a": (9, 9), "b": (9, 9)}) for _ in range(2))
    made.plan(5)
    made.plan(3)
    made.know({"a": (9, 9), "b": (9, 9)})
    assert made.plan(9) == twin.plan(9)


def test_a_worker_missing_from_the_answer_is_forgotten() -> None:
    made = planner(StrategyName.ROUND_ROBIN, {"a": (4, 4), "b": (4, 4)})
    made.plan(8)
    made.answered(3, {"b": 1})
    assert made.plan(8) == [("b", 1)]


def test_a_worker_that_is_no_longer_known_is_not_offered() -> None:
    made = planner(StrategyName.LEAST_BUSY, {"a": (4, 4), "b": (4, 4)})
    made.know({"b": (4, 4)})
    assert made.plan(8) == [("b", 4)]


def test_has_free_follows_the_last_answer() -> None:
    made = planner(StrategyName.LEAST_BUSY, {"a": (1, 1)})
    assert made.has_free
    made.plan(1)
    made.answered(1, {"a": 0})
    assert not made.has_free


class InOrder:
    """A strategy that knows which workers are available, and chooses the first that it need not avoid."""

    def __init__(self) -> None:
        self.available: dict[str, None] = {}

    def put(self, candidate: Candidate) -> None:
        self.remove(candidate.id)
        if candidate.available:
            self.available[candidate.id] = None

    def remove(self, worker_id: str) -> None:
        self.available.pop(worker_id, None)

    def choose(self, avoid: Collection[str] = (), tasks: int = 1) -> str | None:
        return next((each for each in self.available if each not in avoid), None)

    def undo(self, worker_id: str, tasks: int = 1) -> None:
        pass


class Stubborn(InOrder):
    """A strategy that always chooses the same worker."""

    def choose(self, avoid: Collection[str] = (), tasks: int = 1) -> str | None:
        return "a"


def test_a_strategy_that_does_not_count_its_choices_fills_one_worker_after_another() -> None:
    made = Planner(InOrder())
    made.know({"a": (2, 2), "b": (3, 1), "c": (9, 9)})
    assert placed_along(made.plan(10), 10, {"a": 2, "b": 1, "c": 9}) == {"a": 2, "b": 1, "c": 7}


@pytest.mark.parametrize("workers", [{"a": (1, 1), "b": (1, 1)}, {"b": (1, 1)}])
def test_a_strategy_that_insists_on_a_full_or_unknown_worker_is_refused(workers: Workers) -> None:
    made = Planner(Stubborn())
    made.know(workers)
    with pytest.raises(WorkerError, match="chose a, which has no free slot") as caught:
        made.plan(8)
    assert caught.value.code is WorkerErrorCode.INVALID_CONFIGURATION


@pytest.mark.parametrize("used", range(5))
def test_turns_at_kept_places_count_once_they_are_known(used: int) -> None:
    server = planner(StrategyName.ROUND_ROBIN, {"a": (64, 64), "b": (64, 64)})
    free = {"a": 64, "b": 64}
    first, second = (name for name, _ in server.plan(64)[:2])
    server.answered(0, free, kept=8)
    assert server.kept == 8
    server.plan(64)
    server.answered(0, free, unused=8 - used, kept=None)
    assert server.outdated
    assert server.kept == 8 - used
    expected = [first, second] if used % 2 == 0 else [second, first]
    assert [name for name, _ in server.plan(64)[:2]] == expected
    server.answered(0, free, unused=server.kept, kept=8)
    assert not server.outdated


def test_places_that_another_dispatcher_left_count_for_nobody() -> None:
    server = planner(StrategyName.ROUND_ROBIN, {"a": (4, 4)})
    server.plan(4)
    server.answered(0, {"a": 4}, unused=9, kept=2)
    assert (server.kept, server.outdated, server.plan(4)) == (2, False, [("a", 4)])


def test_kept_places_of_a_worker_that_is_gone_are_dropped() -> None:
    server = planner(StrategyName.ROUND_ROBIN, {"a": (4, 4), "b": (4, 4)})
    server.plan(8)
    server.answered(0, {"a": 4, "b": 4}, kept=4)
    server.know({"b": (4, 4)})
    server.plan(4)
    server.answered(0, {"b": 4}, kept=0)
    assert server.plan(4) == [("b", 4)]


def test_workers_above_their_share_are_bound_to_it_if_no_more_tasks_may_run() -> None:
    server = planner(StrategyName.LEAST_BUSY, {"full": (16, 0), "idle": (16, 16), "small": (4, 2)})
    assert server.uneven
    assert server.plan(4, level=True)[-1] == ("full", -8)
    server.answered(0, {"full": 0, "idle": 16, "small": 2})
    assert all(count >= 0 for _, count in server.plan(4))


def test_workers_about_as_busy_as_the_others_are_not_bound() -> None:
    server = planner(StrategyName.LEAST_BUSY, {"a": (16, 7), "b": (16, 9), "small": (4, 2)})
    assert not server.uneven
    assert all(count >= 0 for _, count in server.plan(4, level=True))
