"""The results file: its schema, and reading and writing it.

The report is rendered from this file alone, so whatever a chart or a table shows is in here. Times are in
milliseconds since the scenario's clock started unless a name says otherwise. A metric that does not apply to a
scenario is absent; one that applies and could not be determined is null.
"""

import os
from pathlib import Path
from typing import Final, Literal, Self

from pydantic import Field, JsonValue, ValidationError

from bench.figures import (
    BudgetRaceSide,
    BurstRun,
    Handoff,
    NaiveHandoff,
    Part,
    Percentiles,
    RaceSide,
    Requeue,
)
from bench.figures_cost import Backlog, DispatchPoint, Drained, ThroughputPoint
from bench.figures_pool import PoolHealth, PoolTrial
from fairlane.domain.strategy_name import StrategyName
from fairlane.errors import ConfigError

SCHEMA_VERSION: Final = 1
RESULTS_NAME = "benchmark-results.json"
POOL = "__global"
"""The whole pool, where a metric is given per tenant; no tenant can have this id."""


class TenantMetrics(Part):
    """What one tenant got inside the observation window."""

    successful_starts: int
    service_cost: int
    normalized_service: float
    service_share: float | None
    ideal_share: float | None
    starvation_windows: int
    queue_wait_p95_ms: float | None
    end_to_end_p95_ms: float | None
    backlog_ratio: float


class CapacityChange(Part):
    """One change of the pool's capacity."""

    at_ms: int
    before: int = Field(alias="from")
    after: int = Field(alias="to")
    reason: str

    @classmethod
    def of(cls, at_ms: int, before: int, after: int, reason: str) -> Self:
        """Make a change; ``from`` is no name for an argument."""
        return cls.model_validate({"at_ms": at_ms, "from": before, "to": after, "reason": reason})


class GapWitness(Part):
    """The two tenants and the interval with the largest gap."""

    ahead: str
    behind: str
    from_ms: int
    to_ms: int


class ServiceGap(Part):
    """The largest difference in service per weight. ``bound`` is the theorem's for the witness's pair of tenants."""

    largest: float
    bound: float
    witness: GapWitness | None


class Series(Part):
    """What the charts draw: [milliseconds, value] points."""

    normalized_service: dict[str, list[tuple[int, float]]]
    backlog: dict[str, list[tuple[int, int]]]
    capacity: list[tuple[int, int]]
    observed_ms: tuple[int, int]


class Metrics(Part):
    """Everything a scenario may report; which of it applies is the scenario's business."""

    jain: float | None = None
    evaluable: bool | None = None
    evaluation_notes: dict[str, str] | None = None
    throughput_per_s: float | None = None
    successful_starts: int | None = None
    queue_wait_ms: Percentiles | None = None
    processing_ms: Percentiles | None = None
    end_to_end_ms: Percentiles | None = None
    tenants: dict[str, TenantMetrics] | None = None
    workers: dict[str, int] | None = None
    """Starts per worker over the whole run."""
    attempt_states: dict[str, int] | None = None
    potential_orphans: list[str] | None = None
    throttled_then_completed: int | None = None
    """Tasks that completed in a later attempt than one the provider throttled."""
    peak_reserved_slots: dict[str, int] | None = None
    peak_reserved_cost: dict[str, int] | None = None
    peak_active_slots: dict[str, int] | None = None
    provider_peak: int | None = None
    """Most calls at once, as the provider counted them; one that it refused counts with those in progress."""
    controller_events: list[CapacityChange] | None = None
    service_gap: ServiceGap | None = None
    reserved_occupancy: float | None = None
    provider_occupancy: float | None = None
    left_in_flight: dict[str, int] | None = None
    """Slots and cost the store still holds after the run ended; both must be 0."""
    violations: list[str] | None = None
    """What an audit of everything stored found wrong after the run ended."""
    series: Series | None = None
    naive: RaceSide | None = None
    repaired: list[RaceSide] | None = None
    bursts: list[BurstRun] | None = None
    requeue: Requeue | None = None
    naive_handoff: NaiveHandoff | None = None
    handoff: Handoff | None = None
    budget_race: list[BudgetRaceSide] | None = None
    pool_trials: list[PoolTrial] | None = None
    pool_health: PoolHealth | None = None
    loads: list[ThroughputPoint] | None = None
    limited: ThroughputPoint | None = None
    """The load of as many tenants, each with a budget and both windows."""
    round_trip_ms: Percentiles | None = None
    dispatch_calls: list[DispatchPoint] | None = None
    batching: dict[str, float] | None = None
    """Tasks per second through one cycle of the store, by batch size."""
    backlogs: list[Backlog] | None = None
    drained: Drained | None = None


class Check(Part):
    """One promise, what was seen, and what was promised."""

    name: str
    passed: bool
    observed: JsonValue
    expected: str


class ScenarioResult(Part):
    """One scenario's run."""

    name: str
    group: str
    title: str
    claim: str
    config: dict[str, JsonValue]
    metrics: Metrics
    checks: list[Check]
    passed: bool
    duration_s: float


class ServerFacts(Part):
    """Which server answered."""

    name: str
    version: str


class CoreFacts(Part):
    """Which build of the native core did the arithmetic."""

    path: str
    profile: str


class Environment(Part):
    """Where the numbers were taken."""

    python: str
    ray: str
    server: ServerFacts
    fairlane: str
    core: CoreFacts
    cpus: int
    git: str


class Results(Part):
    """The whole file."""

    schema_version: Literal[1] = SCHEMA_VERSION
    passed: bool
    started_at: str
    duration_s: float
    seed: int
    strategy: str = StrategyName.LEAST_BUSY.value
    """Which worker dispatchers gave the next task to."""
    environment: Environment
    scenarios: list[ScenarioResult]
    claims: list[Check]

    def to_json(self) -> str:
        """Render the file: metrics that do not apply are left out, those without a value are null."""
        return self.model_dump_json(by_alias=True, exclude_unset=True, indent=2) + "\n"


def parse(text: str | bytes) -> Results:
    """Read a results file's text.

    Raises:
        ConfigError: it is not a results file of this schema version; names the first thing wrong.
    """
    try:
        return Results.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "file"
        raise ConfigError(f"not a results file: {where}: {first['msg']}") from None


def save(results: Results, directory: Path) -> Path:
    """Write the file into ``directory`` as a whole or not at all, and return its path."""
    path = directory / RESULTS_NAME
    draft = path.with_suffix(".json.part")
    draft.write_text(results.to_json(), encoding="utf-8")
    os.replace(draft, path)
    return path
