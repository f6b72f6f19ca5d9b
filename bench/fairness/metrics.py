"""The metrics of a fairness scenario. Times are milliseconds since the clock started unless a name says otherwise."""

from typing import Self

from pydantic import Field

from bench.shared.metrics import EndMetrics, Headline, Part, Percentiles


class TenantMetrics(Part):
    """One tenant's figures inside the observation window."""

    successful_starts: int
    service_cost: int
    normalized_service: float
    service_share: float | None
    ideal_share: float | None
    starvation_windows: int
    queue_wait_p95_ms: float | None
    end_to_end_p95_ms: float | None
    backlog_ratio: float
    deficit: tuple[float, float] | None
    """The lowest and the highest after a hand-over, in units of cost; null without one."""


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

    @property
    def holds(self) -> bool:
        """Whether the gap respects its bound."""
        return self.largest <= self.bound


class Series(Part):
    """The series of the charts: [milliseconds, value] points."""

    normalized_service: dict[str, list[tuple[int, float]]]
    backlog: dict[str, list[tuple[int, int]]]
    capacity: list[tuple[int, int]]
    observed_ms: tuple[int, int]


class FairnessMetrics(EndMetrics):
    """Everything one run of a fairness scenario measured. Null: could not be determined, or is not promised."""

    jain: float | None
    evaluable: bool
    evaluation_notes: dict[str, str]
    throughput_per_s: float
    successful_starts: int
    queue_wait_ms: Percentiles
    processing_ms: Percentiles
    end_to_end_ms: Percentiles
    tenants: dict[str, TenantMetrics]
    workers: dict[str, int]
    """Starts per worker over the whole run."""
    attempt_states: dict[str, int]
    throttled_then_completed: int
    """Tasks that completed in a later attempt than one the provider throttled."""
    peak_reserved_slots: dict[str, int]
    peak_reserved_cost: dict[str, int]
    peak_active_slots: dict[str, int]
    provider_peak: int
    """Most calls at once, as the provider counted them; a call that it refused counts with those in progress."""
    controller_events: list[CapacityChange]
    service_gap: ServiceGap | None
    rounds: int
    """The number of the last round, counted since the pool was idle."""
    reserved_occupancy: float | None
    provider_occupancy: float | None
    series: Series

    @property
    def starvation_windows(self) -> int:
        """Starvation windows of all tenants together."""
        return sum(each.starvation_windows for each in self.tenants.values())

    def headline(self) -> Headline:
        """See ``Metrics``."""
        return Headline(self.jain, self.throughput_per_s, self.starvation_windows)
