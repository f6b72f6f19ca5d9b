"""Waiting before trying again: full jitter, so that many who failed together do not return together."""

from typing import Final

from fairlane.clock import Rng

_MAX_DOUBLINGS: Final = 40


def full_jitter(rng: Rng, *, base: float, cap: float, failures: int) -> float:
    """Return a random wait between 0 and min(cap, base * 2^failures), in the unit of ``base`` and ``cap``."""
    return rng.uniform(0, min(cap, base * 2 ** min(failures, _MAX_DOUBLINGS)))


class Backoff:
    """Waits of one caller against a server that does not answer: 25 ms doubling to 1 s, jittered."""

    def __init__(self, rng: Rng, *, base_s: float = 0.025, cap_s: float = 1.0) -> None:
        self._rng = rng
        self._base_s = base_s
        self._cap_s = cap_s
        self._failures = 0

    def next_s(self) -> float:
        """Return the next wait in seconds, at least a tenth of its bound so that it never spins."""
        bound = min(self._cap_s, self._base_s * 2 ** min(self._failures, _MAX_DOUBLINGS))
        self._failures += 1
        return self._rng.uniform(bound / 10, bound)

    def reset(self) -> None:
        """Begin anew: the server has answered."""
        self._failures = 0
