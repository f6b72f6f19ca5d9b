"""Scheduling arithmetic, compiled from Rust: numbers and arrays in, numbers out.

Nothing here performs I/O, reads a clock or draws a random number. Tenants are indices, tasks are
handles, and the caller keeps the names.

Every integer argument that is out of range, every NaN and every infinity raises ``ValueError`` with
a message that names the argument and the value; an argument of another type raises ``TypeError``.

A measure without data is ``None``, never 0 or NaN. Percentages run from 0 to 100.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias, final

__all__ = [
    "PoolState",
    "RunningQuantile",
    "Scheduler",
    "ServiceGap",
    "TaskState",
    "TenantState",
    "build_profile",
    "fullest_window",
    "ideal_shares",
    "jain",
    "occupancy",
    "peak_overlap",
    "percentile",
    "percentiles",
    "service_gap",
    "version",
]

_Change: TypeAlias = (
    tuple[Literal["weight", "backlogged", "head", "kept", "reversed"], int, int]
    | tuple[Literal["unbacklogged"], int]
    | tuple[Literal["dispatched"], int, int, int]
    | tuple[Literal["settled"], int, int, int, int]
)

@final
class TenantState:
    """A tenant's state as an operation at this moment would find it. Compares by value."""

    @property
    def weight(self) -> int:
        """Share of service relative to other tenants."""
    @property
    def slot_ceiling(self) -> int:
        """Tasks it may have in flight; 0 = no ceiling of its own."""
    @property
    def cost_ceiling(self) -> int:
        """Sum of estimated costs it may have in flight; 0 = no ceiling of its own."""
    @property
    def deficit(self) -> int:
        """Unused credit, or debt if negative, as of round `credited`."""
    @property
    def credited(self) -> int:
        """Round up to which the deficit has been credited."""
    @property
    def ratio(self) -> int:
        """Learned actual / estimate in permille, 1 to 1000; an estimate is charged at this ratio."""
    @property
    def place(self) -> Literal["idle", "calendar", "parked"]:
        """Nothing pending, waiting for its round, or held back by a ceiling of its own."""
    @property
    def eligible(self) -> int | None:
        """Round of its calendar entry; None outside the calendar."""
    @property
    def parked_by(self) -> Literal["slots", "cost"] | None:
        """The ceiling that parked it; None unless parked."""
    @property
    def slots(self) -> int:
        """Tasks in flight."""
    @property
    def cost(self) -> int:
        """Sum of the estimated costs in flight."""
    @property
    def pending(self) -> int:
        """Tasks in its queue."""

@final
class PoolState:
    """A pool's state. Compares by value."""

    @property
    def quantum(self) -> int:
        """Deficit that one round gives to a tenant of weight 1."""
    @property
    def capacity(self) -> int:
        """Tasks that may be in flight."""
    @property
    def cost_ceiling(self) -> int:
        """Sum of estimated costs that may be in flight; 0 = no ceiling."""
    @property
    def slots(self) -> int:
        """Tasks in flight."""
    @property
    def cost(self) -> int:
        """Sum of the estimated costs in flight."""
    @property
    def round(self) -> int:
        """Current round."""
    @property
    def epoch(self) -> int:
        """Number of times the pool went idle after a round had passed."""
    @property
    def live(self) -> int:
        """Tasks not ended: pending, in flight or waiting."""

@final
class TaskState:
    """A live task. Compares by value."""

    @property
    def tenant(self) -> int:
        """Index of its tenant."""
    @property
    def cost(self) -> int:
        """Estimated cost."""
    @property
    def phase(self) -> Literal["pending", "in_flight", "waiting"]:
        """Queued, handed to a worker, or sitting out its own pause."""
    @property
    def fence(self) -> int | None:
        """Number of the dispatch that put it in flight; None otherwise."""
    @property
    def charge(self) -> int | None:
        """Amount taken from its tenant's deficit; None unless in flight."""

@final
class Scheduler:
    """Weighted deficit round robin (Shreedhar and Varghese, 1995) without walking a ring.

    Per tenant, the round in which its head task becomes affordable is computed and sorted by, so
    that a decision costs O(log tenants) whatever the costs and the quantum are. It is the reference
    for the decisions made in production and deterministic: equal operations give equal states.

    A refused operation changes nothing. A task's handle may be used again after the task ended.
    """

    def __new__(cls, quantum: int, capacity: int, cost_ceiling: int | None = None) -> Scheduler:
        """Make a pool without tenants.

        `quantum` 1 to 2^30: deficit one round gives to weight 1. `capacity` 0 to 2^22: tasks that
        may be in flight. `cost_ceiling` 0 to 2^53: bound on the estimated costs in flight; 0 or
        None = none.
        """
    def put_tenant(
        self,
        tenant: int,
        weight: int,
        slot_ceiling: int | None = None,
        cost_ceiling: int | None = None,
    ) -> None:
        """Add a tenant or replace its settings; a changed weight works from the current round on.

        `tenant` below 2^32, `weight` 1 to 10^6. Ceilings on its own tasks and estimated costs in
        flight: 0 or None = none.
        """
    def set_capacity(self, capacity: int) -> None:
        """Set how many tasks may be in flight, 0 to 2^22; nothing in flight is taken back."""
    def set_pool_cost_ceiling(self, cost_ceiling: int) -> None:
        """Set the bound on the estimated costs in flight, 0 to 2^53; 0 = none."""
    def submit(self, tenant: int, task: int, cost: int, priority: int | None = None) -> None:
        """Queue a task.

        `task` below 2^64 and not the handle of a live task; `cost` 1 to min(2^40, quantum * 2^20)
        and not above the cost ceiling of its tenant or the pool; `priority` 0 to 255, lower goes
        first, None = 0.
        """
    def dispatch(self, limit: int, places: int) -> tuple[list[tuple[int, int, int, int]], list[int], bool]:
        """Hand out at most `limit` tasks to at most `places` free worker slots.

        Returns the placements in order as (tenant, task, fence, charge), the tasks that ended
        rejected because no settlement could ever make room for them, and whether the call stopped
        only because it had visited 256 tenants.
        """
    def settle(self, task: int, actual: int, good: bool = True) -> int:
        """End a task in flight whose attempt ran, and return the part of a refund forfeited.

        `good` = it completed and its actual cost, 0 to 2^40, is known. Otherwise it failed for good
        or was lost: `actual` is ignored and the charge is kept.
        """
    def fail_retry(self, task: int) -> None:
        """Return a task in flight that ran and failed to its old place in the queue; keeps the charge."""
    def give_back(self, task: int, wait: bool = False) -> None:
        """Take back a task in flight that never started, and return its charge.

        `wait` = it stays out of the queue until `resume`.
        """
    def resume(self, task: int) -> None:
        """Return a waiting task to its old place in the queue."""
    def cancel(self, task: int) -> None:
        """End a task that has not started; one in flight gives its charge back."""
    def pool(self) -> PoolState:
        """Read the pool's state."""
    def tenant(self, tenant: int) -> TenantState:
        """Read a tenant's state."""
    def tenants(self) -> list[int]:
        """List the tenants, ascending."""
    def pending(self, tenant: int) -> list[int]:
        """List a tenant's queued tasks in the order in which they will go."""
    def head_charge(self, tenant: int) -> int | None:
        """Charge of a tenant's head task under its present ratio; None if its queue is empty."""
    def task(self, task: int) -> TaskState | None:
        """Read a live task; None if the handle is unknown or its task has ended."""
    def calendar(self) -> list[tuple[int, int]]:
        """List (round, tenant) of the calendar in the order in which tenants will be visited."""

def percentile(values: Sequence[float], q: float) -> float | None:
    """Nearest-rank percentile: the smallest value that at least `q` percent do not exceed.

    It is always one of the values, which may come in any order; `q` = 0 gives the smallest. None
    without values.
    """

def percentiles(values: Sequence[float], qs: Sequence[float]) -> list[float] | None:
    """Give several nearest-rank percentiles of the same values, in the order of `qs`, for one sort."""

def jain(values: Sequence[float]) -> float | None:
    """Jain's fairness index (sum x)^2 / (n * sum x^2) (Jain, Chiu and Hawe, 1984).

    1 when all are equal, 1/n when one has everything; None without values and when all are 0. A
    negative value raises ``ValueError``.
    """

def ideal_shares(weights: Sequence[float], demands: Sequence[float], capacity: float) -> list[float] | None:
    """Weighted max-min fair shares, by water filling (Bertsekas and Gallager, Data Networks, 6.5.2).

    With the largest level x for which everything fits into `capacity`, each tenant gets
    min(weight * x, demand); all demands are met if they fit together. The arrays are parallel and so
    is the result; demands, capacity and result have one unit, such as slot-seconds. Weights are above
    0, demands and capacity not below 0. None without tenants.
    """

@final
class ServiceGap:
    """How far the service of two tenants, each per weight, drifted apart over one interval."""

    @property
    def pair(self) -> tuple[int, int]:
        """The two tenants, the one that got more first."""
    @property
    def from_index(self) -> int:
        """The interval begins after the change with this index."""
    @property
    def to_index(self) -> int:
        """The interval ends after the change with this index."""
    @property
    def gap(self) -> float:
        """The gap, in cost per weight."""
    @property
    def bound(self) -> float:
        """What the gap may be at most, in cost per weight."""
    @property
    def ratio(self) -> float:
        """The gap as a part of its bound."""
    @property
    def holds(self) -> bool:
        """Whether the gap is within the bound, decided in whole numbers."""

def service_gap(changes: Sequence[_Change], quantum: int) -> tuple[ServiceGap, ServiceGap] | None:
    """Find the largest gap in service per weight, and the gap that comes closest to its bound.

    Covers all pairs of tenants and all intervals in which both were backlogged throughout, with
    constant weights; None if no two ever were. Takes time in proportion to changes * tenants.
    Service is by charge, corrected to the actual cost at settlement. `changes` is the pool's history
    in order, each change a tuple (kind, tenant, ...):

    - ``("weight", tenant, weight)``: its first change; a later one also ends its backlog.
    - ``("backlogged", tenant, deficit)``: it enters the calendar, with this deficit.
    - ``("unbacklogged", tenant)``: it leaves the calendar: nothing pending, or parked.
    - ``("head", tenant, charge)``: its head task, or the charge of it, is another one.
    - ``("dispatched", tenant, fence, charge)``: a task was handed out.
    - ``("settled", tenant, fence, actual, forfeited)``: the attempt completed.
    - ``("kept", tenant, fence)``: the attempt failed or was lost, and its charge stands.
    - ``("reversed", tenant, fence)``: the attempt never started, and its charge was returned.

    The bound is 2 * quantum + the sum over both of (C + D + O + U + F) / weight where, over the
    tenant's own backlog up to the end of the interval, C is the largest charge of a head (or, if
    larger, the deficit above weight * quantum that it entered with), D the debt it entered with, O and
    U the peaks of what its attempts in flight were overcharged and undercharged, and F the refunds
    forfeited while both were backlogged. Without estimation errors it is the bound of deficit round
    robin (Shreedhar and Varghese, 1995). A change that does not fit those before it raises
    ``ValueError``.
    """

def peak_overlap(
    intervals: Sequence[tuple[float, float]], costs: Sequence[float] | None = None
) -> tuple[float, float] | None:
    """Give the largest sum of costs of intervals [start, end) that overlap, and when it is first reached.

    An interval may begin where another ends without overlapping it. Without `costs` each counts 1.
    None without intervals.
    """

def fullest_window(
    stamps: Sequence[float], width: float, costs: Sequence[float] | None = None
) -> tuple[float, float] | None:
    """Give the largest sum of costs in any window (t - width, t] over stamps in any order, and its end t.

    `width` is above 0. Without `costs` each stamp counts 1. None without stamps.
    """

def occupancy(
    intervals: Sequence[tuple[float, float]],
    capacity: float,
    start: float,
    end: float,
    costs: Sequence[float] | None = None,
) -> float | None:
    """Part of a capacity that was used over the window [start, end).

    The sum of cost * time within the window, divided by capacity * (end - start). Intervals are
    [start, end) and are cut to the window; without `costs` each counts 1. A window in which nothing
    ran has occupancy 0; None if the window is empty.
    """

@final
class RunningQuantile:
    """Percentiles of a stream in bounded memory, each within a fixed relative error.

    Values are counted in buckets whose bounds grow by (1 + error) / (1 - error), as in DDSketch
    (Masson, Rim and Lee, 2019): at most 3,110 of them for an error of 1 %. An answer is within the
    relative error of the nearest-rank percentile; values below 1e-9 are answered as 0.
    """

    def __new__(cls, relative_error: float = 0.01) -> RunningQuantile:
        """Make an estimator without values; `relative_error` 0.0001 to 0.5."""
    def add(self, value: float) -> None:
        """Count a value, 0 to 1e18."""
    def percentile(self, q: float) -> float | None:
        """Give the nearest-rank percentile within the relative error; None without values."""
    @property
    def count(self) -> int:
        """Number of values counted."""
    @property
    def relative_error(self) -> float:
        """The relative error of every answer."""

def build_profile() -> Literal["release", "debug"]:
    """Profile the module was compiled with; benchmarks refuse a debug build."""

def version() -> str:
    """Version of the module, which is the version of the package."""
