"""Strategies by name. Names are local to this process; ``package.module:attribute`` works in every process."""

import re
from collections.abc import Callable
from importlib import import_module
from typing import Final

from fairlane.clock import Rng
from fairlane.domain.strategy_name import StrategyName, strategy_place
from fairlane.workers.errors import WorkerError, WorkerErrorCode, invalid, shown
from fairlane.workers.strategies.base import Strategy
from fairlane.workers.strategies.least_busy import LeastBusyEwma, slots
from fairlane.workers.strategies.stride import StrideScheduler, strides_by_weight
from fairlane.workers.strategies.weighted_random import WeightedRandom

StrategyFactory = Callable[[Rng], Strategy]
"""Creates a strategy without workers, which uses no other source of randomness."""

_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,63}")
_METHODS: Final = ("put", "remove", "choose", "undo")

_factories: Final[dict[str, StrategyFactory]] = {
    StrategyName.LEAST_BUSY: lambda rng: StrideScheduler(rng, capacity_of=slots),
    StrategyName.LEAST_BUSY_EWMA: LeastBusyEwma,
    StrategyName.ROUND_ROBIN: StrideScheduler,
    StrategyName.WEIGHTED: lambda rng: StrideScheduler(rng, stride_of=strides_by_weight),
    StrategyName.WEIGHTED_RANDOM: WeightedRandom,
}


def register_strategy(name: str, factory: StrategyFactory) -> None:
    """Register a strategy under a name, in this process.

    Raises:
        WorkerError: invalid_configuration: the name is taken or malformed; the factory is not callable.
    """
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        raise _strategy_error(name, "must be 1 to 64 lower-case letters, digits and hyphens, beginning with a letter")
    if not callable(factory):
        raise invalid("factory", factory, "callable with a random source")
    if name in _factories:
        raise _strategy_error(name, "is already registered")
    _factories[name] = factory


def strategy_names() -> tuple[str, ...]:
    """Return all registered names, sorted."""
    return tuple(sorted(_factories))


def make_strategy(name: str, rng: Rng) -> Strategy:
    """Create the strategy of a name, or by the factory at ``package.module:attribute``.

    Raises:
        WorkerError: invalid_configuration: there is no such strategy, or its factory fails to create one.
    """
    try:
        strategy = _factory(name)(rng)
    except WorkerError:
        raise
    except Exception as error:
        raise _strategy_error(name, f"{type(error).__name__}: {shown(error)}") from error
    missing = [method for method in _METHODS if not callable(getattr(strategy, method, None))]
    if missing:
        raise _strategy_error(
            name, f"its factory returned an object of type {type(strategy).__name__} without {', '.join(missing)}"
        )
    return strategy


def _factory(name: str) -> StrategyFactory:
    place = strategy_place(name) if isinstance(name, str) else None
    if place is not None:
        module, attribute = place
        factory: StrategyFactory = getattr(import_module(module), attribute)
        return factory
    if not isinstance(name, str) or name not in _factories:
        raise _strategy_error(name, f"must be one of {', '.join(strategy_names())}, or package.module:attribute")
    return _factories[name]


def _strategy_error(name: str, problem: str) -> WorkerError:
    text = f"strategy = {shown(name, ascii)[:60]}: {problem}"
    return WorkerError(WorkerErrorCode.INVALID_CONFIGURATION, text, strategy=name)
