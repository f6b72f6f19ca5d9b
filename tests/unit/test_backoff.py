"""The waits before a retry."""

import pytest

from fairlane.clock import system_rng
from fairlane.lifecycle.backoff import Backoff, full_jitter


@pytest.mark.parametrize("failures", [0, 1, 5, 20, 100_000])
def test_full_jitter_covers_the_range_from_nothing_to_the_bound(failures: int) -> None:
    rng = system_rng(1)
    bound = min(30_000, 200 * 2 ** min(failures, 30))
    waits = [full_jitter(rng, base=200, cap=30_000, failures=failures) for _ in range(1_000)]
    assert 0 <= min(waits) < bound * 0.05
    assert bound * 0.95 < max(waits) <= bound


def test_backoff_grows_to_its_cap_and_restarts_after_an_answer() -> None:
    backoff = Backoff(system_rng(1), base_s=0.1, cap_s=1.0)
    waits = [backoff.next_s() for _ in range(50)]
    assert waits[0] <= 0.1
    assert all(0.1 <= wait <= 1.0 for wait in waits[10:])
    backoff.reset()
    assert backoff.next_s() <= 0.1
