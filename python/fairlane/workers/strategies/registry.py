"""Strategies by name. Names hold in this process; another one finds a strategy by ``package.module:attribute``."""

import re
from collections.abc import Callable
from importlib import import_module
from typing import Final

from fairlane.clock import Rng
from fairlane.domain.strategy_name import StrategyName, strategy_place
from fairlane.workers.errors import WorkerError, WorkerErrorCode, invalid, shown
from fairlane.workers.strategies.base import Strategy
from fairlane.workers.strategies.least_busy import LeastBusyEwma, slots
from fairlane.workers.strategies.turns import Turns, strides_by_weight
from fairlane.workers.strategies.weighted_random import WeightedRandom

StrategyFactory = Callable[[Rng], Strategy]
"""Makes a strategy that knows no worker yet and takes chance from nowhere else."""

_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,63}")
_METHODS: Final = ("put", "remove", "choose", "undo")

_factories: Final[dict[str, StrategyFactory]] = {
    StrategyName.LEAST_BUSY: lambda rng: Turns(rng, width_of=slots),
    StrategyName.LEAST_BUSY_EWMA: LeastBusyEwma,
    StrategyName.ROUND_ROBIN: Turns,
    StrategyName.WEIGHTED: lambda rng: Turns(rng, stride_of=strides_by_weight),
    StrategyName.WEIGHTED_RANDOM: WeightedRandom,
}


def register_strategy(name: str, factory: StrategyFactory) -> None:
    """Give a strategy a name, in this process.

    Raises:
        WorkerError: invalid_configuration: the name is taken, or is no name; the factory cannot be called.
    """
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        raise _unusable(name, "must be 1 to 64 lower-case letters, digits and hyphens, a letter first")
    if not callable(factory):
        raise invalid("factory", factory, "callable with a source of chance")
    if name in _factories:
        raise _unusable(name, "is taken")
    _factories[name] = factory


def strategy_names() -> tuple[str, ...]:
    """Return the names there are, in order."""
    return tuple(sorted(_factories))


def make_strategy(name: str, rng: Rng) -> Strategy:
    """Make the strategy of a name; ``package.module:attribute`` names a factory by its place.

    Raises:
        WorkerError: invalid_configuration: there is no such strategy, or its factory does not make one.
    """
    try:
        made = _factory(name)(rng)
    except WorkerError:
        raise
    except Exception as error:
        raise _unusable(name, f"{type(error).__name__}: {shown(error)}") from error
    missing = [method for method in _METHODS if not callable(getattr(made, method, None))]
    if missing:
        raise _unusable(name, f"made a {type(made).__name__}, which cannot {' or '.join(missing)}")
    return made


def _factory(name: str) -> StrategyFactory:
    place = strategy_place(name) if isinstance(name, str) else None
    if place is not None:
        module, attribute = place
        factory: StrategyFactory = getattr(import_module(module), attribute)
        return factory
    if not isinstance(name, str) or name not in _factories:
        raise _unusable(name, f"must be one of {', '.join(strategy_names())}, or package.module:attribute")
    return _factories[name]


def _unusable(name: str, problem: str) -> WorkerError:
    text = f"strategy = {shown(name, ascii)[:60]}: {problem}"
    return WorkerError(WorkerErrorCode.INVALID_CONFIGURATION, text, strategy=name)
