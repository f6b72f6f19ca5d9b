"""Waits before a further try."""

import pytest
from hypothesis import given, strategies as st
from tenacity import AsyncRetrying, stop_after_attempt

from fairlane.clock import system_rng
from fairlane.workers.backoff import full_jitter
from tests.support.virtual_time import now_s, virtual_time


class Highest:
    """Chance at its upper end, so that the bound shows."""

    def uniform(self, low: float, high: float) -> float:
        assert low == 0
        return high


@given(
    base_s=st.just(0.0) | st.floats(0.001, 100),
    cap_s=st.floats(0.001, 3_600),
    tries=st.integers(0, 1_000_000),
    seed=st.integers(),
)
def test_a_wait_is_between_nothing_and_the_bound(base_s: float, cap_s: float, tries: int, seed: int) -> None:
    bound = min(cap_s, base_s * 2 ** min(tries, 900))
    assert full_jitter(base_s, cap_s, Highest()).after(tries) == pytest.approx(bound)
    assert 0 <= full_jitter(base_s, cap_s, system_rng(seed)).after(tries) <= bound * (1 + 1e-9)


@pytest.mark.parametrize("tries", [0, 3, 100])
def test_waits_cover_the_whole_range(tries: int) -> None:
    wait = full_jitter(0.2, 30.0, system_rng(1))
    waits = [wait.after(tries) for _ in range(1_000)]
    bound = min(30.0, 0.2 * 2**tries)
    assert min(waits) < bound * 0.05
    assert bound * 0.95 < max(waits)


def test_the_same_seed_gives_the_same_waits() -> None:
    first, second = (full_jitter(0.1, 1.0, system_rng(7)) for _ in range(2))
    assert [first.after(tries) for tries in range(20)] == [second.after(tries) for tries in range(20)]


@virtual_time
async def test_tenacity_waits_base_after_the_first_attempt_and_twice_that_after_the_next() -> None:
    began_s: list[float] = []

    async def fail() -> None:
        began_s.append(now_s())
        raise OSError("again")

    wait = full_jitter(1.0, 5.0, Highest())
    with pytest.raises(OSError, match="again"):
        await AsyncRetrying(wait=wait, stop=stop_after_attempt(6), reraise=True)(fail)
    assert began_s == [0, 1, 3, 7, 12, 17]
