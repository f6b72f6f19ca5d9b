"""Enums that configuration, store and reports share."""

from enum import StrEnum


class QueuePolicy(StrEnum):
    """Which task starts next."""

    WDRR = "wdrr"
    """Tenants take turns by weight and token cost: weighted deficits in virtual time."""
    PRIORITY = "priority"
    """The lowest priority number first, across tenants."""
    FIFO = "fifo"
    """The oldest task first."""


class ThrottleScope(StrEnum):
    """What waits after a provider's throttle: the whole pool, or only the throttled task."""

    POOL = "pool"
    TASK = "task"


class ParkReason(StrEnum):
    """Which of a tenant's own limits stopped it."""

    SLOTS = "slots"
    COST = "cost"
    BUDGET = "budget"
    STARTS = "starts"
    """The rate limit on starts (RPM)."""
    SPEND = "spend"
    """The rate limit on estimated cost (TPM)."""


class BudgetPolicy(StrEnum):
    """What happens to tasks when the tenant's budget is used up."""

    WAIT = "wait"
    REJECT = "reject"


class StopReason(StrEnum):
    """Why a dispatch placed no more tasks."""

    EMPTY = "empty"
    BATCH = "batch"
    VISITS = "visits"
    CAPACITY = "capacity"
    COST = "cost"
    WORKERS = "workers"
    PAUSED = "paused"
    STARTS = "starts"
    SPEND = "spend"


class WorkerState(StrEnum):
    """What the store allows a worker incarnation to do."""

    LIVE = "live"
    DRAINING = "draining"
    """It keeps its tasks and gets no new ones."""
    LOST = "lost"
    """The store refuses all its writes."""


class CapacityReason(StrEnum):
    """Why a tick of the controller, or an operator, changed the capacity or did not."""

    DECREASED = "throttled"
    RECOVERED = "recovered"
    SET = "set"
    COOLDOWN = "cooldown"
    SETTLING = "settling"
    AT_LIMIT = "at_limit"
    EARLY = "early"
