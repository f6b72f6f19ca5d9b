"""The names of the strategies that choose a worker, and the form that names one of somebody else's."""

import re
from enum import StrEnum
from typing import Final

_PLACE: Final = re.compile(r"((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*):([A-Za-z_]\w*)", re.ASCII)


class StrategyName(StrEnum):
    """The strategies that every process has."""

    LEAST_BUSY = "least-busy"
    """The smallest part of its slots in use."""
    LEAST_BUSY_EWMA = "least-busy-ewma"
    """The same, and slow or failing workers count as busier."""
    ROUND_ROBIN = "round-robin"
    """One after the other."""
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
    """Say why no process but this one could know the strategy, or None if each can."""
    if name in _NAMES or strategy_place(name) is not None:
        return None
    return f"must be one of {', '.join(StrategyName)}, or package.module:attribute, which names a factory"
