"""The names of the strategies that choose a worker, and how to name a strategy of your own."""

import re
from enum import StrEnum
from typing import Final

_PLACE: Final = re.compile(r"((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*):([A-Za-z_]\w*)", re.ASCII)


class StrategyName(StrEnum):
    """The built-in strategies."""

    LEAST_BUSY = "least-busy"
    """The worker with the smallest share of its slots in use."""
    LEAST_BUSY_EWMA = "least-busy-ewma"
    """The same, but slow or failing workers count as busier."""
    ROUND_ROBIN = "round-robin"
    """Each worker in turn."""
    WEIGHTED = "weighted"
    """In proportion to the weights, evenly spread."""
    WEIGHTED_RANDOM = "weighted-random"
    """In proportion to the weights, at random."""


_NAMES: Final = frozenset(StrategyName)


def strategy_place(name: str) -> tuple[str, str] | None:
    """Return module and attribute if the name has the form ``package.module:attribute``."""
    match = _PLACE.fullmatch(name)
    return None if match is None else (match[1], match[2])


def strategy_name_problem(name: str) -> str | None:
    """Say why other processes cannot find the strategy; None if they can."""
    if name in _NAMES or strategy_place(name) is not None:
        return None
    return f"must be one of {', '.join(StrategyName)}, or package.module:attribute, which names a factory"
