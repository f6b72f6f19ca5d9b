"""Scheduling arithmetic, compiled from Rust: numbers and arrays in, numbers out.

Nothing here performs I/O, reads a clock or draws a random number. Tenants are indices, tasks are
handles, and the caller keeps the names.

Every integer argument that is out of range, every NaN and every infinity raises ``ValueError`` with
a message that names the argument and the value; an argument of another type raises ``TypeError``.
"""

from typing import Literal, final

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

def build_profile() -> Literal["release", "debug"]:
    """Profile the module was compiled with; benchmarks refuse a debug build."""

def version() -> str:
    """Version of the module, which is the version of the package."""
