"""Holds are sized so that at most the stated share of a tenant's tasks costs more, for tasks of every kind."""

import math
import random
from collections import deque
from collections.abc import Callable

import pytest
from hypothesis import given, settings, strategies as st

from fairlane.config import EstimateConfig, build
from fairlane.domain.limits import MAX_COST
from fairlane.errors import ConfigError, InvalidTask
from fairlane.lifecycle.sizing import Coverage, Holds

ESTIMATE = 10_000


class Says:
    """An estimator that returns the payload."""

    def estimate(self, payload: object) -> int:
        if isinstance(payload, Exception):
            raise payload
        return payload  # type: ignore[return-value] - the point of some tests


def _holds(probability: float | None = 0.05, **settings: object) -> Holds:
    return Holds(Says(), build(EstimateConfig, {"overrun_probability": probability, **settings}))


def _run(holds: Holds, ratio: Callable[[], float], tasks: int, *, in_flight: int = 1, tenant: str = "acme") -> float:
    """Settle tasks; return the share of those with a sized hold that cost more than their hold."""
    flying: deque[tuple[bool, int, int]] = deque()
    overruns: list[bool] = []
    for _ in range(tasks):
        sized = holds.coverage(tenant).ratio is not None
        flying.append((sized, holds.price(tenant, ESTIMATE)[1], round(ESTIMATE * ratio())))
        if len(flying) >= in_flight:
            sized, hold, actual = flying.popleft()
            holds.settled(tenant, estimate=ESTIMATE, hold=hold, actual=actual)
            if sized:
                overruns.append(actual > hold)
    return sum(overruns) / max(1, len(overruns))


def _margin(probability: float, samples: int) -> float:
    """Five standard deviations of a share that is counted over this many independent tasks."""
    return 5 * math.sqrt(probability * (1 - probability) / samples)


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from([0.01, 0.05, 0.1, 0.3]),
    st.floats(0.3, 0.8),
    st.floats(0.1, 0.6),
    st.sampled_from([1, 64]),
    st.integers(0, 2**32),
)
def test_the_share_of_overruns_meets_the_target(
    probability: float, spread: float, middle: float, in_flight: int, seed: int
) -> None:
    rng = random.Random(seed)
    holds = _holds(probability, window_samples=2000, most_ratio=1000.0)
    share = _run(holds, lambda: middle * rng.lognormvariate(0, spread), 8000, in_flight=in_flight)
    margin = _margin(probability, 2000)
    assert probability - margin - 0.02 <= share <= probability + margin


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from([0.02, 0.1, 0.4]),
    st.lists(st.tuples(st.floats(0.05, 4.0), st.integers(1, 100)), min_size=1, max_size=8),
    st.integers(0, 2**32),
)
def test_overruns_stay_below_the_target_for_every_kind_of_tasks(
    probability: float, kinds: list[tuple[float, int]], seed: int
) -> None:
    rng = random.Random(seed)
    ratios, weights = [kind[0] for kind in kinds], [kind[1] for kind in kinds]
    holds = _holds(probability, window_samples=1000)
    share = _run(holds, lambda: rng.choices(ratios, weights)[0], 4000)
    assert share <= probability + _margin(probability, 1000)


def test_coverage_compares_holds_with_actual_costs() -> None:
    holds = _holds(None)
    assert holds.coverage() == holds.coverage("acme") == Coverage(0, 0)
    assert holds.coverage().share is None
    for actual in (5, 10, 11, 4):
        holds.settled("acme", estimate=10, hold=10, actual=actual)
    holds.settled("globex", estimate=10, hold=10, actual=99)
    assert holds.coverage("acme") == Coverage(4, 3)
    assert holds.coverage() == Coverage(5, 3)
    assert holds.coverage().share == 0.6


def test_without_a_probability_the_hold_is_the_estimate() -> None:
    holds = _holds(None)
    for _ in range(500):
        holds.settled("acme", estimate=100, hold=100, actual=10)
    assert holds.price("acme", 100) == (100, 100)


@pytest.mark.parametrize(("probability", "needed"), [(0.5, 50), (0.05, 50), (0.01, 99), (0.001, 999)])
def test_a_hold_is_sized_once_enough_is_known_for_the_promise(probability: float, needed: int) -> None:
    holds = _holds(probability)
    for _ in range(needed - 1):
        holds.settled("acme", estimate=100, hold=100, actual=10)
    assert holds.price("acme", 100) == (100, 100)
    holds.settled("acme", estimate=100, hold=100, actual=10)
    assert holds.price("acme", 100) == (100, 11)
    assert holds.price("globex", 100) == (100, 100)


@pytest.mark.parametrize(("actual", "hold"), [(0, 21), (1, 21), (50, 51), (1_000_000, 300)])
def test_a_hold_stays_within_its_bounds(actual: int, hold: int) -> None:
    holds = _holds(0.05, least_ratio=0.2, most_ratio=3.0)
    for _ in range(60):
        holds.settled("acme", estimate=100, hold=99, actual=actual)
    assert holds.price("acme", 100) == (100, hold)
    assert holds.price("acme", 1) == (1, max(1, math.ceil(hold / 100)))
    assert holds.price("acme", MAX_COST)[1] <= MAX_COST


def test_a_provider_that_reports_no_usage_trains_nothing_and_covers_nothing() -> None:
    holds = _holds(0.05)
    for _ in range(500):
        holds.settled("acme", estimate=100, hold=100, actual=None)
    assert holds.price("acme", 100) == (100, 100)
    assert holds.coverage("acme") == holds.coverage() == Coverage(0, 0, unknown=500)
    assert holds.coverage().share is None


@pytest.mark.parametrize("silent", [0.0, 0.5, 0.9])
def test_the_promise_holds_however_many_replies_lack_usage(silent: float) -> None:
    rng = random.Random(5)
    holds = _holds(0.05, window_samples=1000, most_ratio=1000.0)
    overruns = given = 0
    while given < 6000:
        sized = holds.coverage("acme").ratio is not None
        hold = holds.price("acme", ESTIMATE)[1]
        if rng.random() < silent:
            holds.settled("acme", estimate=ESTIMATE, hold=hold, actual=None)
            continue
        actual = round(ESTIMATE * 0.3 * rng.lognormvariate(0, 0.6))
        holds.settled("acme", estimate=ESTIMATE, hold=hold, actual=actual)
        given += 1
        overruns += sized and actual > hold
    assert overruns / given <= 0.05 + _margin(0.05, 1000)
    share = holds.coverage("acme").share
    assert share is not None
    assert share >= 0.95 - _margin(0.05, 1000)


def test_an_actual_equal_to_its_hold_is_a_normal_sample() -> None:
    holds = _holds(0.05)
    for _ in range(60):
        holds.settled("acme", estimate=100, hold=50, actual=50)
    assert holds.price("acme", 100) == (100, 51)


def test_a_tenant_whose_tasks_change_is_followed_within_two_windows() -> None:
    rng = random.Random(7)
    holds = _holds(0.05, window_samples=500)
    _run(holds, lambda: rng.uniform(0.1, 0.2), 5000)
    _run(holds, lambda: rng.uniform(0.5, 1.5), 1000)
    share = _run(holds, lambda: rng.uniform(0.5, 1.5), 4000)
    assert share <= 0.05 + _margin(0.05, 500)
    _run(holds, lambda: rng.uniform(0.1, 0.2), 1001)
    assert holds.price("acme", ESTIMATE)[1] <= ESTIMATE * 0.21


def test_the_number_of_remembered_tenants_is_bounded() -> None:
    holds = _holds(0.05, tenants=2)
    for tenant in ("first", "second"):
        for _ in range(60):
            holds.settled(tenant, estimate=100, hold=100, actual=10)
    assert holds.price("first", 100)[1] == 11
    holds.settled("third", estimate=100, hold=100, actual=10)
    assert holds.price("first", 100)[1] == 11
    assert holds.price("second", 100)[1] == 100
    for number in range(1000):
        holds.price(f"nobody-{number}", 100)
    assert holds.price("first", 100)[1] == 11
    assert holds.coverage().settled == 121


@pytest.mark.parametrize("given", [0, -1, 1.5, True, None, "7", MAX_COST + 1, ValueError("no idea")])
def test_a_task_is_refused_if_its_estimator_fails_or_returns_no_valid_cost(given: object) -> None:
    with pytest.raises(InvalidTask, match="estimat"):
        _holds().price("acme", given)


@pytest.mark.parametrize(
    ("values", "given"),
    [({"overrun_probability": 0}, "overrun_probability = 0"), ({"overrun_probability": 0.6}, "overrun_probability"),
     ({"overrun_probability": math.nan}, "overrun_probability"),
     ({"overrun_probability": "0.1"}, "overrun_probability"),
     ({"least_ratio": 5.0}, "least_ratio = 5.0"), ({"most_ratio": math.inf}, "most_ratio"),
     ({"min_samples": 2000}, "window_samples = 1000: must be at least 2000"),
     ({"overrun_probability": 0.0005}, "window_samples = 1000: must be at least 1999"),
     ({"bytes_per_token": 0.0}, "bytes_per_token = 0.0"), ({"output_tokens": 0}, "output_tokens = 0"),
     ({"bytes_per_token": True}, "bytes_per_token = True"), ({"tenants": 0}, "tenants = 0")],
)  # fmt: skip
def test_settings_that_cannot_keep_the_promise_are_refused(values: dict[str, object], given: str) -> None:
    with pytest.raises(ConfigError, match=given):
        build(EstimateConfig, values)
