"""The metrics of the scenarios about budgets."""

from typing import Literal

from bench.shared.budget_use import BudgetUse
from bench.shared.metrics import EndMetrics, Headline, Metrics, Part, Percentiles

Side = Literal["naive", "repaired"]


class BudgetRaceSide(Part):
    """How one side of a race for a budget ended."""

    side: Side
    contenders: int
    accepted: int
    rejected: int
    answers: dict[str, int]
    """The contenders' answers, counted."""
    use: BudgetUse


class BurstRun(Part):
    """A burst of tasks through the product, from the moment the pool may start to the last end."""

    window: str | None
    """The window of starts it ran under."""
    interval_ms: int
    tasks: int
    completed: int
    tasks_per_s: float | None
    queue_wait_ms: Percentiles
    processing_ms: Percentiles
    end_to_end_ms: Percentiles
    workers: dict[str, int]
    """Starts per worker."""
    could_run: int
    """Slots of all workers."""
    peak_active: int
    starts_by_priority: dict[str, int]
    handed_too_early: list[str]
    """Tasks that were handed over before a more urgent one, or before all were submitted."""
    too_early: list[str]
    """Tasks that started before a more urgent one, or before all were submitted."""
    overtook: list[str]
    """Those of them whose start the store decided, and not a worker that asked sooner than another."""
    closest_ms: float | None
    """The shortest time from a start to the first start that the window keeps apart from it, by the server's clock."""
    closest_seen_ms: float | None
    """The same as the workers saw it: from call to call."""
    use: BudgetUse


class BudgetMetrics(EndMetrics):
    """The figures of the bursts, and of the race of one side."""

    bursts: list[BurstRun]
    budget_race: list[BudgetRaceSide]
    throughput_per_s: float | None

    def headline(self) -> Headline:
        """See ``Metrics``."""
        return Headline(tasks_per_s=self.throughput_per_s)


class BudgetRaceMetrics(Metrics):
    """The figures of the race: of the naive side, and of the repaired side for each number of contenders."""

    budget_race: list[BudgetRaceSide]
