"""Time, identity and chance, injected everywhere else.

Owns the only raw use of ``time``, ``random`` and ``secrets`` in the library. Client clocks measure waits; they
never decide anything that the store decides.
"""

import random
import secrets
import time
from typing import Protocol


class Clock(Protocol):
    """A monotonic reading for waits and a wall reading for display."""

    def monotonic_s(self) -> float:
        """Seconds from an arbitrary origin; never goes back."""
        ...

    def wall_s(self) -> float:
        """Seconds since the Unix epoch, for people to read."""
        ...


class SystemClock:
    """The machine's clocks."""

    def monotonic_s(self) -> float:
        """Seconds from an arbitrary origin; never goes back."""
        return time.monotonic()  # noqa: TID251 - the one place

    def wall_s(self) -> float:
        """Seconds since the Unix epoch."""
        return time.time()  # noqa: TID251 - the one place


class IdGenerator(Protocol):
    """Makes identifiers nobody has used."""

    def new_id(self) -> str:
        """Return a fresh id that is valid as a task id and as an incarnation."""
        ...


class RandomIds:
    """96 random bits as 24 hex digits: no coordination, no clock."""

    def new_id(self) -> str:
        """Return a fresh id."""
        return secrets.token_hex(12)


class Rng(Protocol):
    """A source of chance, for jitter and tie breaking."""

    def uniform(self, low: float, high: float) -> float:
        """Return a number in [low, high]."""
        ...


def system_rng(seed: int | None = None) -> Rng:
    """Return a generator; with a seed its sequence repeats."""
    return random.Random(seed)  # noqa: S311 - jitter, not a secret


def derived_rng(rng: Rng) -> Rng:
    """Return a generator begun by one number of another, and independent of what that is used for from then on."""
    return system_rng(int(rng.uniform(0, 2**53)))


SYSTEM_CLOCK = SystemClock()
RANDOM_IDS = RandomIds()
