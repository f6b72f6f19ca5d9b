"""Waits before the next try."""

import logging

import pytest
from hypothesis import given, strategies as st

from fairlane.backoff import Backoff, StoreRetry
from fairlane.clock import system_rng
from fairlane.errors import StoreUnavailable
from tests.support.virtual_time import now_s, virtual_time


class Highest:
    """A source of chance that draws the upper end, so that waits reach their bound."""

    def uniform(self, low: float, high: float) -> float:
        assert low <= high
        return high


@given(
    base=st.just(0.0) | st.floats(0.001, 100),
    cap=st.floats(0.001, 3_600),
    floor=st.floats(0, 1),
    failures=st.integers(0, 1_000_000),
    seed=st.integers(),
)
def test_a_wait_is_between_its_floor_and_its_bound(
    base: float, cap: float, floor: float, failures: int, seed: int
) -> None:
    bound = min(cap, base * 2 ** min(failures, 900))
    assert Backoff(base, cap, Highest()).after(failures) == pytest.approx(bound)
    wait = Backoff(base, cap, system_rng(seed), floor=floor).after(failures)
    assert bound * floor * (1 - 1e-9) <= wait <= bound * (1 + 1e-9)


@pytest.mark.parametrize("failures", [0, 1, 5, 20, 100_000])
def test_waits_cover_the_range_from_nothing_to_the_bound(failures: int) -> None:
    backoff = Backoff(200, 30_000, system_rng(1))
    bound = min(30_000, 200 * 2 ** min(failures, 30))
    waits = [backoff.after(failures) for _ in range(1_000)]
    assert 0 <= min(waits) < bound * 0.05
    assert bound * 0.95 < max(waits) <= bound


def test_the_same_seed_gives_the_same_waits() -> None:
    first, second = (Backoff(0.1, 1.0, system_rng(7)) for _ in range(2))
    assert [first.after(failures) for failures in range(20)] == [second.after(failures) for failures in range(20)]


class Flaky:
    """A store that fails a number of times before it answers."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.asked_s: list[float] = []

    async def ask(self) -> None:
        self.asked_s.append(now_s())
        if self.failures:
            self.failures -= 1
            raise StoreUnavailable("away")


@virtual_time
async def test_retries_of_an_unreachable_store_slow_down_and_an_answer_resets_the_wait(
    caplog: pytest.LogCaptureFixture,
) -> None:
    retry = StoreRetry("reaper", logging.getLogger("fairlane.test"), Highest())
    store = Flaky(8)
    while not await retry.attempt(store.ask):
        pass
    waits = [after - before for before, after in zip(store.asked_s, store.asked_s[1:], strict=False)]
    assert waits == pytest.approx([0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.0, 1.0])
    assert [record.message for record in caplog.records] == ["reaper: away"] * 8

    again = Flaky(1)
    assert not await retry.attempt(again.ask)
    assert now_s() - again.asked_s[0] == pytest.approx(0.025)


@virtual_time
async def test_only_store_errors_are_retried() -> None:
    async def broken() -> None:
        raise ValueError("a bug")

    with pytest.raises(ValueError, match="a bug"):
        await StoreRetry("reaper", logging.getLogger("fairlane.test"), Highest()).attempt(broken)
