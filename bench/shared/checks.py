"""Promises as data: a bound on a figure is one line, other promises name what must hold and what to show.

A check judges measured figures. It fails if a figure could not be measured.
"""

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Generic, Protocol, TypeVar

from pydantic import JsonValue

from bench.shared.metrics import Check, EndMetrics, Metrics

MetricsT = TypeVar("MetricsT", bound=Metrics)
ScenarioT_contra = TypeVar("ScenarioT_contra", contravariant=True)
MetricsT_contra = TypeVar("MetricsT_contra", bound=Metrics, contravariant=True)
ItemT = TypeVar("ItemT")

Figures = float | None | Mapping[str, float | None]
"""One figure, or several of a kind by label. None: not measured."""


class CheckSpec(Protocol[ScenarioT_contra, MetricsT_contra]):
    """A promise with its parameters."""

    @property
    def name(self) -> str:
        """The promise, in a few words."""
        ...

    def judge(self, scenario: ScenarioT_contra, metrics: MetricsT_contra) -> Check:
        """Compare the measured figures with the promise."""
        ...


def verdict(name: str, passed: bool, observed: JsonValue, expected: str, digits: int = 4) -> Check:
    """Make a check, with numbers rounded to what a reader can use."""
    return Check(name=name, passed=passed, observed=_rounded(observed, digits), expected=expected)


def _rounded(value: JsonValue, digits: int) -> JsonValue:
    return round(value, digits) if isinstance(value, float) else value


@dataclass(frozen=True)
class Bound(Generic[MetricsT]):
    """A bound on a figure. Of several figures each must keep it, and there must be one."""

    name: str
    figure: Callable[[MetricsT], Figures]
    _: KW_ONLY
    at_least: float | None = None
    at_most: float | None = None
    expected: str = ""
    """Default: the bound itself."""
    digits: int = 4
    """To show; the figure is judged as it was measured."""

    def judge(self, scenario: object, metrics: MetricsT) -> Check:
        """See ``CheckSpec``."""
        del scenario
        found = self.figure(metrics)
        figures = [*found.values()] if isinstance(found, Mapping) else [found]
        shown: JsonValue = (
            {label: _rounded(figure, self.digits) for label, figure in found.items()}
            if isinstance(found, Mapping)
            else found
        )
        passed = bool(figures) and all(self._keeps(figure) for figure in figures)
        return verdict(self.name, passed, shown, self.expected or self._bound(), self.digits)

    def _keeps(self, figure: float | None) -> bool:
        return (
            figure is not None
            and (self.at_least is None or figure >= self.at_least)
            and (self.at_most is None or figure <= self.at_most)
        )

    def _bound(self) -> str:
        return f"≥ {self.at_least:g}" if self.at_least is not None else f"≤ {self.at_most:g}"


@dataclass(frozen=True)
class Promise(Generic[MetricsT]):
    """Figures that must fit together."""

    name: str
    holds: Callable[[MetricsT], bool]
    observed: Callable[[MetricsT], JsonValue]
    expected: str | Callable[[MetricsT], str]

    def judge(self, scenario: object, metrics: MetricsT) -> Check:
        """See ``CheckSpec``."""
        del scenario
        expected = self.expected if isinstance(self.expected, str) else self.expected(metrics)
        return verdict(self.name, self.holds(metrics), self.observed(metrics), expected)


@dataclass(frozen=True)
class Each(Generic[MetricsT, ItemT]):
    """A promise that each of several parts of the metrics keeps; there must be one."""

    name: str
    parts: Callable[[MetricsT], Mapping[str, ItemT]]
    """By label."""
    holds: Callable[[ItemT], bool]
    observed: Callable[[ItemT], JsonValue]
    expected: str

    def judge(self, scenario: object, metrics: MetricsT) -> Check:
        """See ``CheckSpec``."""
        del scenario
        parts = self.parts(metrics)
        passed = bool(parts) and all(self.holds(part) for part in parts.values())
        return verdict(self.name, passed, {label: self.observed(part) for label, part in parts.items()}, self.expected)


NOTHING_LEFT = Promise[EndMetrics](
    "no orphans, nothing held",
    lambda m: (
        m.potential_orphans == []
        and m.left_in_flight.keys() == {"slots", "cost"}
        and not any(m.left_in_flight.values())
    ),
    lambda m: {"orphans": [*m.potential_orphans], **m.left_in_flight},
    "0 orphans; 0 slots and 0 cost left",
)
"""No attempt hangs between its reservation and its start, and nothing stays held after the end."""

AUDIT_CLEAN = Promise[EndMetrics](
    "audit of the stored state",
    lambda m: m.violations == [],
    lambda m: [*m.violations[:3]],
    "no violation",
)
