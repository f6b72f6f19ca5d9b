"""Waits before the next try: random, so that callers that failed together do not come back together.

`Backoff` says how long. `StoreRetry` is the one place that waits for a store that does not answer.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from fairlane.clock import Rng
from fairlane.errors import StoreError

_MAX_DOUBLINGS: Final = 40
_STORE_BASE_S: Final = 0.025
_STORE_CAP_S: Final = 1.0
_STORE_FLOOR: Final = 0.1


class Backoff:
    """Full jitter: a random wait in [floor * bound, bound], where bound = min(cap, base * 2^failures).

    Waits are in the unit of ``base`` and ``cap``. ``base`` = 0 means no wait at all.
    """

    def __init__(self, base: float, cap: float, rng: Rng, *, floor: float = 0.0) -> None:
        self._base = base
        self._cap = cap
        self._rng = rng
        self._floor = floor

    def after(self, failures: int) -> float:
        """Return the wait after a try that ``failures`` failed tries preceded."""
        bound = min(self._cap, self._base * 2.0 ** min(failures, _MAX_DOUBLINGS))
        return self._rng.uniform(bound * self._floor, bound)


class StoreRetry:
    """Makes one caller's calls to the store. After a StoreError it logs it and waits 25 ms, doubling to 1 s.

    Each wait is at least a tenth of its bound, so that a caller in a loop never spins. The first call that succeeds
    ends the series. ``name`` begins each log line.
    """

    def __init__(self, name: str, log: logging.Logger, rng: Rng, *, level: int = logging.WARNING) -> None:
        self._name = name
        self._log = log
        self._level = level
        self._backoff = Backoff(_STORE_BASE_S, _STORE_CAP_S, rng, floor=_STORE_FLOOR)
        self._failures = 0

    async def attempt(self, step: Callable[[], Awaitable[object]]) -> bool:
        """Run ``step`` once and return True; or log its StoreError, wait, and return False.

        The caller decides whether to try again: between two tries it may have been stopped or have lost its lease.
        """
        try:
            await step()
        except StoreError as error:
            self._log.log(self._level, "%s: %s", self._name, error)
            wait_s = self._backoff.after(self._failures)
            self._failures += 1
            await asyncio.sleep(wait_s)
            return False
        self._failures = 0
        return True
