"""Small closed vocabularies used by configuration, store and reports."""

from enum import StrEnum


class QueuePolicy(StrEnum):
    """Who is served next."""

    WDRR = "wdrr"
    """Weighted deficit round robin by token cost."""
    PRIORITY = "priority"
    """Strictly lowest priority number first, across tenants."""
    FIFO = "fifo"
    """Strictly by arrival."""


class ThrottleScope(StrEnum):
    """What a provider's throttle holds back."""

    POOL = "pool"
    TASK = "task"


class ParkReason(StrEnum):
    """Which of a tenant's own limits stopped it."""

    SLOTS = "slots"
    COST = "cost"
    BUDGET = "budget"
    STARTS = "starts"
    """Too many starts within the window's interval."""
    SPEND = "spend"
    """Too much cost started within the window's interval."""


class BudgetPolicy(StrEnum):
    """What happens to a task whose tenant has used up its budget."""

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
    """What the store lets a worker incarnation do."""

    LIVE = "live"
    DRAINING = "draining"
    """Keeps what it has, gets nothing new."""
    LOST = "lost"
    """Every write of it is refused."""


class CapacityReason(StrEnum):
    """What one tick of the controller, or an operator, did to the capacity."""

    DECREASED = "throttled"
    RECOVERED = "recovered"
    SET = "set"
    COOLDOWN = "cooldown"
    SETTLING = "settling"
    AT_LIMIT = "at_limit"
    EARLY = "early"
