"""Pool strategies: who is offered, how much, and in which order."""

from collections import Counter

import pytest

from fairlane.pool import LeastBusy, RoundRobin, Strategy


def _given(plan: list[tuple[str, int]], tasks: int) -> Counter[str]:
    """Place so many tasks along a plan."""
    given: Counter[str] = Counter()
    for name, count in plan:
        taken = min(count, tasks)
        given[name] += taken
        tasks -= taken
    return +given


@pytest.mark.parametrize("strategy", [LeastBusy(), RoundRobin()])
@pytest.mark.parametrize(
    "free", [{}, {"a": (4, 0)}, {"a": (4, 3)}, {"a": (4, 4), "b": (8, 1), "c": (100, 100)}, {"a": (1, 1), "b": (9, 9)}]
)
@pytest.mark.parametrize("limit", [0, 1, 3, 64, 256])
def test_a_plan_offers_all_it_may_and_no_more(strategy: Strategy, free: dict[str, tuple[int, int]], limit: int) -> None:
    plan = strategy.plan(free, limit)
    given = _given(plan, limit)
    assert all(count > 0 for _, count in plan)
    assert all(given[name] <= free[name][1] for name in given)
    assert sum(given.values()) == min(limit, sum(left for _, left in free.values()))


@pytest.mark.parametrize("tasks", [1, 2, 5, 17, 64])
def test_least_busy_spreads_few_and_many_tasks_by_share(tasks: int) -> None:
    free = {"small": (32, 32), "large": (96, 96)}
    given = _given(LeastBusy().plan(free, 64), tasks)
    assert abs(given["small"] - tasks / 4) <= 1 + tasks / 8


def test_least_busy_fills_up_the_idle_one_first() -> None:
    given = _given(LeastBusy().plan({"busy": (10, 2), "idle": (10, 10)}, 8), 8)
    assert given == {"idle": 8}


@pytest.mark.parametrize("tasks", [3, 30, 60])
def test_round_robin_spreads_evenly(tasks: int) -> None:
    free = dict.fromkeys("abc", (100, 100))
    given = _given(RoundRobin().plan(free, 64), tasks)
    assert max(given.values()) - min(given.values()) <= 1 + tasks // 12


def test_round_robin_goes_on_where_it_was() -> None:
    strategy = RoundRobin()
    free = dict.fromkeys("abc", (4, 4))
    firsts = [strategy.plan(free, 1)[0][0] for _ in range(6)]
    assert firsts == ["a", "b", "c", "a", "b", "c"]
