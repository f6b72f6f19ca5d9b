"""The definition of a kind of scenario: its driver, its metrics, and how its figures are shown."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import JsonValue

from bench.shared.metrics import Check, Metrics
from bench.shared.platform import Platform, Progress
from bench.shared.scenario import Scenario

ScenarioT = TypeVar("ScenarioT", bound=Scenario)
MetricsT = TypeVar("MetricsT", bound=Metrics)

Table = tuple[str, list[str]]
"""Caption and lines."""
Chart = tuple[str, str]
"""Caption and path, relative to the report."""


@dataclass(frozen=True)
class Run:
    """The arguments that drivers get beside their scenario."""

    platform: Platform
    seed: int
    progress: Progress
    together: Callable[[], Awaitable[None]]
    """Returns once each scenario that runs at the same time has called it, or has ended: then their clocks start."""


@dataclass(frozen=True)
class Comparison(Generic[MetricsT]):
    """A promise about two scenarios of one run. ``judge`` gets the metrics of both."""

    name: str
    scenario: str
    against: str
    expected: str
    judge: Callable[[MetricsT, MetricsT], tuple[bool, JsonValue]]


@dataclass(frozen=True)
class Outcome(Generic[MetricsT]):
    """One scenario's results, as far as they stand beside those of others."""

    name: str
    metrics: MetricsT
    checks: list[Check]


@dataclass(frozen=True)
class Overview(Generic[MetricsT]):
    """A section of the report on all scenarios of the kind, side by side."""

    heading: str
    tables: Callable[[Sequence[Outcome[MetricsT]]], Iterable[Table]]


def no_charts(scenario: str, metrics: Metrics, directory: Path) -> list[Chart]:
    """Draw nothing."""
    del scenario, metrics, directory
    return []


@dataclass(frozen=True, kw_only=True)
class Kind(Generic[ScenarioT, MetricsT]):
    """A kind of scenario. The type of its scenarios and that of its metrics belong to no other kind."""

    scenarios: tuple[ScenarioT, ...]
    metrics: type[MetricsT]
    drive: Callable[[ScenarioT, Run], Awaitable[MetricsT]]
    tables: Callable[[MetricsT], Iterable[Table]]
    charts: Callable[[str, MetricsT, Path], list[Chart]] = no_charts
    """Draws into a directory, for the scenario of this name."""
    terms: Mapping[str, str] = field(default_factory=dict)
    """What a reader needs to know about a metric, by its name; shown if it has a value."""
    at_once: int = 1
    """How many of its scenarios may run at the same time. To start processes takes the whole machine, so scenarios that
    measure time wait for each other (`Run.together`) before they begin to."""
    overview: Overview[MetricsT] | None = None
    comparisons: tuple[Comparison[MetricsT], ...] = ()
