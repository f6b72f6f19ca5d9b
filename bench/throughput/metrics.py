"""The metrics of the cost of a decision."""

from bench.shared.metrics import Headline, Metrics, Part, Percentiles


class ThroughputPoint(Part):
    """One load, driven in turns, each from the first submit to the last result seen by the client.

    A figure is the median of all turns unless its name says otherwise.
    """

    tenants: int
    tasks: int
    """Of one turn."""
    median_tasks_per_s: float
    fastest_tasks_per_s: float
    """Of the fastest turn: anything else the machine did can only have slowed the others."""
    turns_per_s: dict[int, float]
    """Of every turn, by the number of its round."""
    calls_per_task: float
    most_calls_per_task: float
    """Of the turn with the most."""
    redis_cpu_us_per_task: float
    commands_per_task: dict[str, float]
    us_per_call: dict[str, float]
    """Server time per call of each command; that of ``fcall`` holds what its function called."""
    events: int
    """Entries of the event stream that a turn made, read back without a gap."""
    reference_tenants: int
    """Of the load without limits that the ratios compare with, round by round."""
    speed_ratio: float
    cpu_ratio: float


class DispatchPoint(Part):
    """Server time of one dispatch call in one situation. Null: nothing was measured."""

    tenants: int
    parked: int
    batch: int
    calls: int
    p50_us: float | None
    p99_us: float | None


class Backlog(Part):
    """Dispatch calls while ``pending`` tasks waited: the tasks that a call takes are replaced before the next one."""

    tenants: int
    pending: int
    """Tasks waiting, as the store counts them when the last call has been timed."""
    bytes_per_task: float
    """Server memory that a pending task takes, with what its submission adds to the event stream."""
    calls: list[DispatchPoint]
    ratios: dict[str, float | None]
    """By batch, the median ratio of a call to the one beside it in the shortest queue of as many tenants; null: not
    measured."""


class Drained(Part):
    """The traces of a load after its results were collected and their retention had passed.

    Keys are counted without bells: momentary signals with a TTL, at most one for each process.
    """

    keys_before: int
    keys_peak: int
    keys_after: int
    data_before_bytes: int
    data_peak_bytes: int
    data_after_bytes: int


class ThroughputMetrics(Metrics):
    """Everything that was measured."""

    loads: list[ThroughputPoint]
    limited: ThroughputPoint
    """The load of as many tenants as the reference, each with a budget and both windows."""
    round_trip_ms: Percentiles
    dispatch_calls: list[DispatchPoint]
    parked_ratios: dict[str, float | None]
    """By batch, the median ratio of a call with nearly all tenants parked to the one beside it with few tenants; null:
    not measured."""
    batching: dict[str, float]
    """Tasks per second through one cycle of the store, by batch size."""
    backlogs: list[Backlog]
    drained: Drained

    def headline(self) -> Headline:
        """See ``Metrics``."""
        return Headline(tasks_per_s=self.loads[-1].median_tasks_per_s if self.loads else None)
