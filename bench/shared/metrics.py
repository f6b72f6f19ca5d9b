"""The parts of the results file that every kind of scenario builds on."""

from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, JsonValue

from fairlane import _core

POOL = "__global"
"""The whole pool, where a metric is given per tenant; no tenant can have this id."""


class Part(BaseModel):
    """A frozen part of the results file. Unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, populate_by_name=True)


class Percentiles(Part):
    """Nearest-rank percentiles; null when there was nothing to rank."""

    p50: float | None
    p95: float | None
    p99: float | None

    @classmethod
    def of(cls, values: Iterable[float]) -> "Percentiles":
        """Rank the values."""
        found = _core.percentiles([float(value) for value in values], [50.0, 95.0, 99.0])
        p50, p95, p99 = found or (None, None, None)
        return cls(p50=p50, p95=p95, p99=p99)


class Check(Part):
    """One promise, what was observed, and what was promised."""

    name: str
    passed: bool
    observed: JsonValue
    expected: str


@dataclass(frozen=True)
class Headline:
    """A scenario's figures in the summary; None: not measured."""

    jain: float | None = None
    tasks_per_s: float | None = None
    starvation_windows: int | None = None


class Metrics(Part):
    """The metrics of one run of a scenario. Each kind has its own type; a run that failed leaves an empty one."""

    def headline(self) -> Headline:
        """Return the figures for the summary."""
        return Headline()


class EndMetrics(Metrics):
    """The state that a scheduler left when the run had ended."""

    potential_orphans: list[str]
    """Attempts that hang: reserved, and neither started nor ended."""
    left_in_flight: dict[str, int]
    """Slots and cost that the store still holds; both must be 0."""
    violations: list[str]
    """The violations that an audit of everything stored found."""
