"""Exponential backoff with full jitter: a random part of a time that doubles up to a cap."""

from tenacity import RetryCallState, Retrying
from tenacity.wait import wait_exponential

from fairlane.clock import Rng


class FullJitter(wait_exponential):
    """A tenacity wait: uniform in [0, min(cap, base * 2^n)] seconds after n retries, from an injected random source.

    Unlike a fixed wait, it spreads retries of things that failed together.
    """

    def __init__(self, base_s: float, cap_s: float, rng: Rng) -> None:
        super().__init__(multiplier=base_s, max=cap_s if base_s > 0 else 0)
        self._rng = rng

    def __call__(self, retry_state: RetryCallState) -> float:
        """Return seconds to wait after the attempt that just failed."""
        return self._rng.uniform(0, super().__call__(retry_state))

    def after(self, tries: int) -> float:
        """Return seconds to wait after ``tries`` retries, where tenacity does not count them."""
        state = RetryCallState(Retrying(), None, (), {})
        state.attempt_number = tries + 1
        return self(state)


def full_jitter(base_s: float, cap_s: float, rng: Rng) -> FullJitter:
    """Return the wait; ``base_s`` = 0 means no wait."""
    return FullJitter(base_s, cap_s, rng)
