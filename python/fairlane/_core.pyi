"""Scheduling arithmetic, compiled from Rust: numbers and arrays in, numbers out.

The module performs no I/O, reads no clock and draws no random numbers. Tenants are indices and tasks
are handles; the caller maps them to names.

An integer out of range, a NaN or an infinity raises ``ValueError``, and the message names the argument
and the value. An argument of the wrong type raises ``TypeError``.

A measure without data returns ``None``, never 0 or NaN. Percentages run from 0 to 100.
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
    tuple[Literal["weight", "kept"], int, int]
    | tuple[Literal["backlogged"], int, float]
    | tuple[Literal["parked", "idle"], int]
    | tuple[Literal["reversed"], int, int, int]
    | tuple[Literal["dispatched", "settled"], int, int, int, int]
)

@final
class TenantState:
    """A tenant's state, in the current epoch. Compares by value."""

    @property
    def weight(self) -> int:
        """Share of service relative to other tenants."""
    @property
    def slot_ceiling(self) -> int:
        """Number of tasks it may have in flight; 0 = no ceiling."""
    @property
    def cost_ceiling(self) -> int:
        """Sum of estimated costs it may have in flight; 0 = no ceiling."""
    @property
    def virtual_time(self) -> float:
        """Its service per unit of weight, comparable with the pool's virtual time."""
    @property
    def deficit(self) -> float:
        """Its weight * (the pool's virtual time - its own): credit, or debt if negative.

        While it has tasks in flight it is normally about minus their charges. Outside the calendar it is 0 at
        most: a tenant enters without credit.
        """
    @property
    def owed(self) -> int:
        """The part of its refunds that later charges pay back."""
    @property
    def charged(self) -> int:
        """Sum of the charges in flight."""
    @property
    def ratio(self) -> int:
        """Learned actual / estimate in permille, 1 to 1000. A charge is the estimate times this ratio."""
    @property
    def place(self) -> Literal["idle", "calendar", "parked"]:
        """Without pending tasks, waiting for its turn, or stopped by a ceiling of its own."""
    @property
    def parked_by(self) -> Literal["slots", "cost"] | None:
        """The ceiling that parked it; None unless it is parked."""
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
        """The virtual time of one round, and a part of the largest credit that a refund gives at once."""
    @property
    def capacity(self) -> int:
        """Number of tasks that may be in flight."""
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
    def virtual_time(self) -> float:
        """The largest virtual time that a tenant had when it was served, without its charges in flight."""
    @property
    def round(self) -> int:
        """Rounds that have passed in this epoch: its virtual time in quanta."""
    @property
    def epoch(self) -> int:
        """Number of times the last live task ended."""
    @property
    def live(self) -> int:
        """Number of tasks that have not ended: pending, in flight or waiting."""

@final
class TaskState:
    """A task that has not ended. Compares by value."""

    @property
    def tenant(self) -> int:
        """Index of its tenant."""
    @property
    def cost(self) -> int:
        """Estimated cost."""
    @property
    def phase(self) -> Literal["pending", "in_flight", "waiting"]:
        """In its queue, handed to a worker, or outside the queue until its own pause ends."""
    @property
    def fence(self) -> int | None:
        """Number of the dispatch that put it in flight; None unless it is in flight."""
    @property
    def charge(self) -> int | None:
        """What fairness counts until the attempt is settled; None unless it is in flight."""

@final
class Scheduler:
    """Weighted deficits in virtual time: start-time fair queueing (Goyal, Vin and Cheng, 1996), with settlement.

    A tenant's virtual time is its service per unit of weight. The tenant with the smallest is served
    next, and equal tenants in the order in which they entered the calendar. A decision costs
    O(log tenants), whatever costs and weights are. It is the reference for the decisions in
    production, and deterministic: equal operations give equal states, to the last bit.

    A refused operation changes nothing. You may reuse the handle of a task that has ended.
    """

    def __new__(cls, quantum: int, capacity: int, cost_ceiling: int | None = None) -> Scheduler:
        """Make a pool without tenants.

        `quantum` 1 to 2^30: the virtual time of one round, and a part of the largest credit that a
        refund gives at once. `capacity` 0 to 2^22: number of tasks that may be in flight.
        `cost_ceiling` 0 to 2^53: bound on the estimated costs in flight; 0 or None = no ceiling.
        """
    def put_tenant(
        self,
        tenant: int,
        weight: int,
        slot_ceiling: int | None = None,
        cost_ceiling: int | None = None,
    ) -> None:
        """Add a tenant or replace its limits. A new weight counts for service from now on.

        `tenant` below 2^32, `weight` 1 to 10^6. The ceilings bound its number of tasks and its
        estimated costs in flight; 0 or None = no ceiling.
        """
    def set_capacity(self, capacity: int) -> None:
        """Set how many tasks may be in flight, 0 to 2^22. Tasks in flight are not affected."""
    def set_pool_cost_ceiling(self, cost_ceiling: int) -> None:
        """Set the bound on the estimated costs in flight, 0 to 2^53; 0 = no ceiling."""
    def submit(self, tenant: int, task: int, cost: int, priority: int | None = None) -> None:
        """Queue a task.

        `task` below 2^64, and not the handle of a live task. `cost` 1 to 2^40, and not
        above the cost ceiling of its tenant or of the pool. `priority` 0 to 255: lower numbers run
        first; None = 0.
        """
    def dispatch(self, limit: int, places: int) -> tuple[list[tuple[int, int, int, int, float, int]], list[int], bool]:
        """Hand at most `limit` tasks to at most `places` free worker slots.

        Returns the placements in order as (tenant, task, fence, charge, deficit, owed), the last two
        being the tenant's after the charge; the tasks that ended rejected because no settlement can
        ever make room for them; and True if the call stopped because 256 of its visits had served
        nothing: they parked a tenant or rejected a task.
        """
    def settle(self, task: int, actual: int, good: bool = True) -> None:
        """End a task in flight whose attempt ran.

        With `good` the attempt completed, and `actual` is its actual cost, 0 to 2^40. Otherwise the
        attempt failed permanently or was lost: `actual` is ignored, and the attempt keeps its charge.
        """
    def fail_retry(self, task: int) -> None:
        """Return a task whose attempt ran and failed to its old queue position; the attempt keeps its charge."""
    def give_back(self, task: int, wait: bool = False) -> None:
        """Take back a task in flight that never started, and refund its charge.

        With `wait` the task stays out of the queue until `resume`.
        """
    def resume(self, task: int) -> None:
        """Return a waiting task to its old queue position."""
    def cancel(self, task: int) -> None:
        """End a task that has not started. If it was in flight, its charge is refunded."""
    def pool(self) -> PoolState:
        """Read the pool's state."""
    def tenant(self, tenant: int) -> TenantState:
        """Read a tenant's state."""
    def tenants(self) -> list[int]:
        """List the tenants, ascending."""
    def pending(self, tenant: int) -> list[int]:
        """List a tenant's queued tasks, next first."""
    def head_charge(self, tenant: int) -> int | None:
        """Charge of a tenant's head task at its present ratio; None if its queue is empty."""
    def task(self, task: int) -> TaskState | None:
        """Read a live task; None if the task does not exist or has ended."""
    def calendar(self) -> list[tuple[float, int]]:
        """List (virtual time, tenant) of every calendar entry, next first."""

def percentile(values: Sequence[float], q: float) -> float | None:
    """Nearest-rank percentile: the smallest value that at least `q` percent do not exceed.

    The result is always one of the values; `q` = 0 gives the smallest. The values may be in any order.
    None without values.
    """

def percentiles(values: Sequence[float], qs: Sequence[float]) -> list[float] | None:
    """Several nearest-rank percentiles of the same values, in the order of `qs`; sorts the values only once."""

def jain(values: Sequence[float]) -> float | None:
    """Jain's fairness index (sum x)^2 / (n * sum x^2) (Jain, Chiu and Hawe, 1984).

    1 when all values are equal, 1/n when one value is all of the sum; None without values and when all
    are 0. A negative value raises ``ValueError``.
    """

def ideal_shares(weights: Sequence[float], demands: Sequence[float], capacity: float) -> list[float] | None:
    """Weighted max-min fair shares, by water filling (Bertsekas and Gallager, Data Networks, 6.5.2).

    Each tenant gets min(weight * x, demand), with the largest level x for which the shares fit into
    `capacity`. If all demands fit together, each is met. Element i of `weights`, `demands` and the result
    belongs to tenant i. Demands, capacity and result have the same unit, such as slot-seconds. Weights
    are above 0; demands and capacity are 0 or more. None without tenants.
    """

@final
class ServiceGap:
    """How far the service of two tenants, each per weight, drifted apart over one interval."""

    @property
    def pair(self) -> tuple[int, int]:
        """The two tenants; the first got more service."""
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
        """The largest gap allowed, in cost per weight."""
    @property
    def ratio(self) -> float:
        """The gap divided by its bound: at most 1 if the gap is within the bound."""
    @property
    def holds(self) -> bool:
        """True if the gap is within the bound, computed in integers."""

def service_gap(changes: Sequence[_Change]) -> tuple[ServiceGap, ServiceGap] | None:
    """Find the largest gap in service per weight, and the gap with the largest ratio to its bound.

    Compares all pairs of tenants over all intervals in which both were backlogged throughout, with
    constant weights; None if no two tenants were ever backlogged together. Takes time in proportion to
    changes * tenants. Service is the charge, corrected to the actual cost at settlement. `changes` is the
    pool's history in order, each change a tuple (kind, tenant, ...), where `owed` is what the tenant is
    owed afterwards:

    - ``("weight", tenant, weight)``: the tenant's first change; a later one ends its backlog.
    - ``("backlogged", tenant, deficit)``: the tenant enters the calendar with this deficit.
    - ``("parked", tenant)``: a ceiling of its own stops a tenant of the calendar.
    - ``("idle", tenant)``: the tenant has no pending task left, and is owed nothing from now on.
    - ``("dispatched", tenant, fence, charge, owed)``: a task was handed to a worker.
    - ``("settled", tenant, fence, actual, owed)``: the attempt completed.
    - ``("kept", tenant, fence)``: the attempt failed or was lost, and keeps its charge.
    - ``("reversed", tenant, fence, owed)``: the attempt never started, and its charge was given back.

    The bound is the sum over both tenants of (max(C, D, L) + E + O + U + 1) / weight. The terms of a
    tenant are taken over its own backlog up to the end of the interval:

    - C: the largest charge of a dispatched task
    - D and E: the debt, or the credit, with which it entered the calendar
    - L: the charges it had in flight right after its latest dispatch before the other was backlogged, too
    - O: the peak of what it is owed plus the overcharge of its attempts in flight
    - U: the peak undercharge of its attempts in flight
    - 1: one unit of cost for the rounding of virtual times

    A change that contradicts the changes before it raises ``ValueError``.
    """

def peak_overlap(
    intervals: Sequence[tuple[float, float]], costs: Sequence[float] | None = None
) -> tuple[float, float] | None:
    """The largest sum of costs of intervals [start, end) that overlap, and the time at which it is first reached.

    An interval that begins where another ends does not overlap it. Without `costs` each interval counts 1.
    None without intervals.
    """

def fullest_window(
    stamps: Sequence[float], width: float, costs: Sequence[float] | None = None
) -> tuple[float, float] | None:
    """The largest sum of costs in any window (t - width, t], over stamps in any order, and the window's end t.

    `width` is above 0. Without `costs` each stamp counts 1. None without stamps.
    """

def occupancy(
    intervals: Sequence[tuple[float, float]],
    capacity: float,
    start: float,
    end: float,
    costs: Sequence[float] | None = None,
) -> float | None:
    """The used fraction of a capacity over the window [start, end).

    The sum of cost * time within the window, divided by capacity * (end - start). Intervals are
    [start, end) and are cut to the window; without `costs` each interval counts 1. A window in which
    nothing ran has occupancy 0; None if the window is empty.
    """

@final
class RunningQuantile:
    """Percentiles of a stream of values in bounded memory, each within a fixed relative error.

    Values are counted in buckets whose bounds grow by (1 + error) / (1 - error), as in DDSketch
    (Masson, Rim and Lee, 2019): at most 3,110 buckets for an error of 1 %. An answer is within the
    relative error of the nearest-rank percentile; values below 1e-9 are reported as 0.
    """

    def __new__(cls, relative_error: float = 0.01) -> RunningQuantile:
        """Make an estimator without values; `relative_error` 0.0001 to 0.5."""
    def add(self, value: float) -> None:
        """Add a value, 0 to 1e18."""
    def percentile(self, q: float) -> float | None:
        """The nearest-rank percentile within the relative error; None without values."""
    @property
    def count(self) -> int:
        """Number of values added."""
    @property
    def relative_error(self) -> float:
        """The relative error of every answer."""

def build_profile() -> Literal["release", "debug"]:
    """The profile of this build; benchmarks refuse a debug build."""

def version() -> str:
    """The version of the module; the package has the same version."""
