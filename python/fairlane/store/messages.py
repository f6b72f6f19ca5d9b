"""What goes into a script and what comes out, as typed values. Normal negative answers are values here."""

from dataclasses import dataclass
from enum import StrEnum

from fairlane.config import TenantConfig
from fairlane.domain.attempt import Outcome
from fairlane.domain.policy import CapacityReason, ParkReason, QueuePolicy, StopReason, WorkerState
from fairlane.domain.task import OnUnknown, TaskRef, TaskState, TaskView


@dataclass(frozen=True, slots=True)
class Submission:
    """A task to admit. ``deadline_ms`` is relative to admission, 0 = none."""

    ref: TaskRef
    cost: int
    payload: bytes
    fingerprint: bytes
    priority: int = 100
    deadline_ms: int = 0
    on_unknown: OnUnknown = OnUnknown.RETRY
    named_by_caller: bool = False
    """The id is the caller's idempotency key, and stays known after the record is gone."""
    estimate: int = 0
    """What the cost, a sized hold, was made from: a ceiling that admits no more may lower it so far. 0: it may not."""


class SubmitStatus(StrEnum):
    """What became of a submission."""

    ACCEPTED = "accepted"
    EXISTING = "existing"
    UNKNOWN_TENANT = "unknown_tenant"
    QUEUE_FULL = "queue_full"
    COST_ABOVE_CEILING = "cost_above_ceiling"
    CONFLICT = "conflict"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Submitted:
    """The answer to one submission. ``limit`` is the bound that refused it, 0 if none did."""

    status: SubmitStatus
    state: TaskState | None
    limit: int


@dataclass(frozen=True, slots=True)
class Dispatched:
    """One round of placing. ``wake_ms`` is the time until something is due by itself, None = nothing is."""

    placed: int
    stop: StopReason
    runnable: int
    """Tenants with a task that could be tried next."""
    wake_ms: int | None
    free: dict[str, int]
    """Free slots left at the incarnations named in the plan that are still live."""
    fleet: int
    """Grows whenever a worker joins, drains or leaves."""


@dataclass(frozen=True, slots=True)
class WorkerView:
    """A worker incarnation as the store knows it."""

    incarnation: str
    name: str
    slots: int
    load: int
    state: WorkerState
    lease_left_ms: int


@dataclass(frozen=True, slots=True)
class StartedTask:
    """A task this worker may now run. ``deadline_ms`` is what is left of it, None = no deadline."""

    ref: TaskRef
    fence: int
    cost: int
    payload: bytes
    failures: int
    deadline_ms: int | None


@dataclass(frozen=True, slots=True)
class Started:
    """The answer to `start`. ``alive`` false: the incarnation is lost, nothing else holds."""

    alive: bool
    tasks: tuple[StartedTask, ...]
    cancelling: tuple[tuple[TaskRef, int], ...]
    """Attempts (task, fence) of this worker that somebody wants stopped."""
    hold_ms: int | None
    """Something may not start yet, or the pool is paused: ask again after this long."""
    more: bool


@dataclass(frozen=True, slots=True)
class Settlement:
    """The end of an attempt that ran. ``backoff_ms`` is how long a failed task waits before its next attempt."""

    ref: TaskRef
    fence: int
    outcome: Outcome
    actual: int
    result: bytes = b""
    error_code: str = ""
    error: str = ""
    backoff_ms: int = 0


@dataclass(frozen=True, slots=True)
class Throttle:
    """The end of an attempt that the provider did not take. ``retry_after_ms`` None: it named no usable pause."""

    ref: TaskRef
    fence: int
    retry_after_ms: int | None


@dataclass(frozen=True, slots=True)
class Return:
    """An attempt that a worker hands back. ``called``: the provider was called, and used at least ``actual``."""

    ref: TaskRef
    fence: int
    called: bool = False
    actual: int = 0


class Write(StrEnum):
    """What became of a worker's write about one attempt."""

    DONE = "done"
    REPEATED = "repeated"
    """This very attempt had ended before; nothing changed."""
    STALE = "stale"
    """The attempt is no longer this worker's; nothing changed, except that its usage is booked as late, once."""


@dataclass(frozen=True, slots=True)
class HeartbeatReply:
    """The answer to a heartbeat."""

    alive: bool
    held: int
    """Tasks that this incarnation holds, as the store counts them."""
    cancelling: tuple[tuple[TaskRef, int], ...]
    runnable: int


class CancelStatus(StrEnum):
    """What became of a cancel."""

    CANCELLED = "cancelled"
    STOPPING = "stopping"
    """It runs; its worker has been told."""
    ENDED = "ended"
    """It had already ended."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Adaptation:
    """One tick of the controller. ``next_ms``: when the next tick may count."""

    before: int
    after: int
    reason: CapacityReason
    next_ms: int


@dataclass(frozen=True, slots=True)
class Recovered:
    """A step of taking a lost worker's tasks back. ``more``: call again."""

    incarnations: tuple[str, ...]
    tasks: int
    more: bool
    next_ms: int | None
    """When the next lease ends, None = no worker."""


@dataclass(frozen=True, slots=True)
class Collected:
    """Ended tasks a client waits for, in the order they ended. Ask again from ``cursor``."""

    cursor: int
    tasks: tuple[TaskView, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class PoolView:
    """The pool at one instant. Slots and cost are in flight."""

    policy: QueuePolicy
    quantum: int
    capacity: int
    hard_limit: int
    cost_ceiling: int | None
    slots: int
    cost: int
    round: int
    epoch: int
    fence: int
    live: int
    runnable: int
    throttles: int
    successes: int
    closed: bool
    paused_ms: int
    events: int
    now_ms: int


@dataclass(frozen=True, slots=True)
class Ledger:
    """A tenant's spend in the current budget period, or for ever when it has no periods. Units.

    ``held + spent + late <= limit``, except for what ``overrun`` and ``late`` say: both are known only afterwards.
    """

    limit: int | None
    """With what was added; None: no budget."""
    held: int
    """Estimates of what is in flight and was reserved in this period."""
    spent: int
    overrun: int
    """The part of ``spent`` by which actual costs exceeded their estimates."""
    late: int
    """Used by workers that had already lost the attempt."""
    held_before: int
    """Estimates of what is in flight and belongs to earlier periods."""
    spent_before: int
    """Of the period before this one."""
    spent_total: int
    """Since the tenant was registered, late usage included."""
    period_ends_ms: int | None
    """Server time."""

    @property
    def remaining(self) -> int | None:
        """What a reservation may still take; None: no budget."""
        return None if self.limit is None else max(0, self.limit - self.held - self.spent - self.late)


@dataclass(frozen=True, slots=True)
class TenantView:
    """A tenant at one instant. ``parked`` says which of its own limits stops it."""

    id: str
    weight: int
    slot_ceiling: int | None
    cost_ceiling: int | None
    queue_limit: int
    deficit: int
    credited: int
    ratio: int
    slots: int
    cost: int
    queued: int
    waiting: int
    """Tasks in their own backoff or pause."""
    in_calendar: bool
    parked: ParkReason | None
    limits: TenantConfig
    ledger: Ledger


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A page of the whole, read in one script. ``more``: tenants follow."""

    pool: PoolView
    tenants: tuple[TenantView, ...]
    more: bool
