"""The metrics of the scenarios about workers."""

from typing import Literal

from pydantic import Field

from bench.shared.metrics import Metrics, Part


class TrialWorker(Part):
    """One worker under one strategy. A choice is an attempt that begins; the load is what executes."""

    id: str
    capacity: int
    weight: int
    tasks: int
    share: float
    """Of all choices."""
    peak: int
    """Most tasks it executed at once."""
    longest_run: int
    """Most choices in a row that fell on it."""
    furthest: float
    """Over all moments, the largest distance of its count from its weight's share of the choices so far."""
    share_before: float | None
    """Of the choices before a worker slowed down; null: none did."""
    share_after: float | None
    load_before: float | None
    """Its part of the time that all workers spent executing before a worker slowed down; null: none did."""
    load_after: float | None
    """The same, from the slow-down until the last task began."""


class Trial(Part):
    """One strategy in one contest."""

    contest: Literal["spread", "weights", "makespan", "slowdown"]
    strategy: str
    seed: int
    tasks: int
    completed: int
    """Tasks whose caller has the right result."""
    errors: list[str]
    """The errors that other callers got."""
    attempts: int
    makespan_ms: float
    """From the first assignment to the last result."""
    slowing: str | None
    """The worker that slowed down."""
    slows_after: int | None
    """The number of choices that had been made."""
    slowing_load: list[tuple[int, float]]
    """(Choices so far, that worker's share of the load since the previous point)."""
    workers: list[TrialWorker]
    choices: str
    """A letter for each choice, in their order: a is the first worker, b the second."""

    def worker(self, worker_id: str | None) -> TrialWorker | None:
        """Return one worker's figures; None if it is unknown."""
        return next((each for each in self.workers if each.id == worker_id), None)


class Outage(Part):
    """How one worker was taken out, and how it came back."""

    worker: str
    how: Literal["ill", "stuck"]
    failed_checks: dict[str, int]
    """Up to the one by which it was taken out, by outcome."""
    checks_begun: int
    """While the trouble lasted."""
    out_after_ms: float | None
    """From the beginning of the trouble; null: it was not taken out."""
    running: int
    """Tasks it was executing at that moment."""
    moved: int
    """Those of them that were completed by another worker."""
    restarts: int
    """From then until it came back."""
    good_checks: int | None
    """In a row, when it came back; null: it did not."""
    back_after_ms: float | None
    """From the end of the trouble, which for an ill one is its first restart."""
    early: int
    """Tasks begun on it while it was out."""
    tasks_after: int
    """Tasks completed on it once it was back."""


class Bystander(Part):
    """How often a worker was checked while another one's check hung."""

    worker: str
    checks: int
    expected: float
    """The time that it hung, over the interval between checks: no more are due."""
    usual: float
    """The checks that this worker had in the same time before: on a busy machine all are late."""


class Health(Part):
    """The tasks and the workers while workers failed."""

    tasks: int
    completed: int
    """Tasks whose caller has the right result."""
    errors: list[str]
    """The errors that other callers got."""
    retries: int
    """Allowed for each task."""
    attempts: dict[str, int]
    """Tasks, by how many attempts they took."""
    done_again: list[str]
    """Tasks whose work came to its end more than once: the first time as its worker was taken out."""
    failure_threshold: int
    success_threshold: int
    outages: list[Outage]
    bystanders: list[Bystander]


class StrategiesMetrics(Metrics):
    """Every strategy in every contest."""

    trials: list[Trial] = Field(validation_alias="pool_trials", serialization_alias="pool_trials")


class HealthMetrics(Metrics):
    """Workers that failed."""

    health: Health = Field(validation_alias="pool_health", serialization_alias="pool_health")
