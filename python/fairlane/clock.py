"""Time, ids and chance. Other modules get them injected.

Only this module uses ``time``, ``random`` and ``secrets`` directly. A client's clock measures waits; it never decides
anything that the store decides.
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
    """Makes unique ids."""

    def new_id(self) -> str:
        """Return a new id, valid for a task and for an incarnation."""
        ...


class RandomIds:
    """Ids of 96 random bits as 24 hex digits: they need no coordination and no clock."""

    def new_id(self) -> str:
        """Return a new id."""
        return secrets.token_hex(12)


class Rng(Protocol):
    """A source of chance, for jitter and tie breaking."""

    def uniform(self, low: float, high: float) -> float:
        """Return a number in [low, high]."""
        ...


def system_rng(seed: int | None = None) -> Rng:
    """Return a generator. With a seed, its sequence is always the same."""
    return random.Random(seed)  # noqa: S311 - jitter, not a secret


def derived_rng(rng: Rng) -> Rng:
    """Return a generator that is seeded by one number from another, and independent of it afterwards."""
    return system_rng(int(rng.uniform(0, 2**53)))


SYSTEM_CLOCK = SystemClock()
RANDOM_IDS = RandomIds()
