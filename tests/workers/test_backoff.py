"""Waits before a further try."""

import pytest
from hypothesis import given, strategies as st

from fairlane.clock import system_rng
from fairlane.workers.backoff import full_jitter


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
