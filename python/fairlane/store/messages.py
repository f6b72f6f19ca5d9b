"""The requests and replies of scripts, as typed values. Normal negative answers are values here."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from fairlane.config import TenantConfig
from fairlane.domain.attempt import Outcome
from fairlane.domain.policy import CapacityReason, ParkReason, QueuePolicy, StopReason, WorkerState
from fairlane.domain.task import OnUnknown, TaskRef, TaskState, TaskView


class Submission(NamedTuple):
    """A task to admit. ``deadline_ms`` is relative to admission, 0 = none."""

    ref: TaskRef
    cost: int
    payload: bytes
    fingerprint: bytes
    priority: int = 100
    deadline_ms: int = 0
    on_unknown: OnUnknown = OnUnknown.RETRY
    named_by_caller: bool = False
    """The id is the caller's idempotency key; the store knows it after the record is gone."""
    estimate: int = 0
    """The estimate from which the cost was sized: limits may lower the cost down to it. 0: they may not lower it."""


class SubmitStatus(StrEnum):
    """The answer to a submission."""

    ACCEPTED = "accepted"
    EXISTING = "existing"
    UNKNOWN_TENANT = "unknown_tenant"
    QUEUE_FULL = "queue_full"
    COST_ABOVE_CEILING = "cost_above_ceiling"
    CONFLICT = "conflict"
    CLOSED = "closed"


class Submitted(NamedTuple):
    """A submission's status and its task's state. ``limit`` is the bound that refused it, 0 if none did."""

    status: SubmitStatus
    state: TaskState | None
    limit: int


@dataclass(frozen=True, slots=True)
class Dispatched:
    """The result of a dispatch. ``wake_ms``: time until the next timer is due, None = no timer."""

    placed: int
    stop: StopReason
    runnable: int
    """Tenants with a task that the next dispatch could place."""
    wake_ms: int | None
    free: dict[str, int]
    """Free slots of the plan's incarnations that are still live."""
    fleet: int
    """Grows whenever a worker joins, drains or leaves."""
    unused: int
    """Places that the store had kept before, and that no submit has taken."""
    kept: int | None
    """Places that the store has kept of this plan: the first that were left. None: those that it had kept stand."""


@dataclass(frozen=True, slots=True)
class WorkerView:
    """A worker incarnation as the store knows it."""

    incarnation: str
    name: str
    slots: int
    load: int
    state: WorkerState
    lease_left_ms: int


class StartedTask(NamedTuple):
    """A task that this worker may now run. ``deadline_ms``: time left, None = no deadline."""

    ref: TaskRef
    fence: int
    cost: int
    payload: bytes
    failures: int
    deadline_ms: int | None


@dataclass(frozen=True, slots=True)
class Started:
    """The answer to `start`. ``alive`` false: the incarnation is lost, and the other fields mean nothing."""

    alive: bool
    tasks: tuple[StartedTask, ...]
    cancelling: tuple[tuple[TaskRef, int], ...]
    """Attempts (task, fence) of this worker that it should stop."""
    hold_ms: int | None
    """A task may not start yet, or the pool is paused: ask again after this long. None: nothing waits."""
    more: bool


class Settlement(NamedTuple):
    """The end of an attempt that ran. ``backoff_ms``: how long a failed task waits before its next attempt."""

    ref: TaskRef
    fence: int
    outcome: Outcome
    actual: int
    result: bytes = b""
    error_code: str = ""
    error: str = ""
    backoff_ms: int = 0


class Throttle(NamedTuple):
    """The end of an attempt that the provider throttled. ``retry_after_ms`` None: it named no usable pause."""

    ref: TaskRef
    fence: int
    retry_after_ms: int | None


class Return(NamedTuple):
    """An attempt that a worker hands back. ``called``: the provider was called, and used at least ``actual``."""

    ref: TaskRef
    fence: int
    called: bool = False
    actual: int = 0


class Write(StrEnum):
    """The answer to a worker's write about one attempt."""

    DONE = "done"
    REPEATED = "repeated"
    """This attempt had already ended; nothing changed."""
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
    """The answer to a cancel."""

    CANCELLED = "cancelled"
    STOPPING = "stopping"
    """The task runs; its worker will stop it."""
    ENDED = "ended"
    """The task had already ended."""
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
    """One step of taking back the tasks of lost workers. ``more``: call again."""

    incarnations: tuple[str, ...]
    tasks: int
    more: bool
    next_ms: int | None
    """When the next lease ends, None = no worker."""
    offset_ms: int
    """How far the pool's time is ahead of the server's clock, which was set back."""


@dataclass(frozen=True, slots=True)
class Collected:
    """Ended tasks that a client waits for, in the order of their ends. Read on from ``cursor``.

    ``damaged``: ended tasks whose records cannot be decoded.
    """

    cursor: str
    tasks: tuple[TaskView, ...]
    more: bool
    damaged: tuple[TaskRef, ...] = ()


@dataclass(frozen=True, slots=True)
class PoolView:
    """The pool at one instant. ``slots`` and ``cost`` are in flight."""

    policy: QueuePolicy
    quantum: int
    capacity: int
    hard_limit: int
    cost_ceiling: int | None
    slots: int
    cost: int
    virtual_time: float
    """The largest service per weight that a tenant had when it was served, without its charges in flight."""
    round: int
    """Rounds that have passed in this epoch: its virtual time in quanta."""
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
    """A tenant's spend, in units, in the current budget period, or in all if its budget has no periods.

    ``held + spent + late <= limit``, except for ``overrun`` and ``late``, which are known only afterwards.
    """

    limit: int | None
    """Top-ups included; None: no budget."""
    held: int
    """Estimates of the attempts in flight that were reserved in this period."""
    spent: int
    overrun: int
    """The part of ``spent`` by which actual costs exceeded their estimates."""
    late: int
    """Usage of attempts that their workers had already lost."""
    held_before: int
    """Estimates of the attempts in flight that were reserved in earlier periods."""
    spent_before: int
    """Spent in the period before this one."""
    spent_total: int
    """Spent since the tenant was registered, late usage included."""
    period_ends_ms: int | None
    """Server time."""

    @property
    def remaining(self) -> int | None:
        """Units that reservations may still take; None: no budget."""
        return None if self.limit is None else max(0, self.limit - self.held - self.spent - self.late)


@dataclass(frozen=True, slots=True)
class TenantView:
    """A tenant at one instant. ``parked``: the limit of its own that stops it, if any."""

    id: str
    weight: int
    slot_ceiling: int | None
    cost_ceiling: int | None
    queue_limit: int
    virtual_time: float
    """Service per weight, comparable with the pool's."""
    deficit: float
    """Its weight times (the pool's virtual time less its own): credit, or debt if negative. With tasks in flight it is
    normally about minus their charges. Outside the calendar it is 0 at most: a tenant enters without credit."""
    owed: int
    """The part of its refunds that later charges pay back."""
    ratio: int
    slots: int
    cost: int
    queued: int
    waiting: int
    """Tasks in a backoff or a pause of their own."""
    in_calendar: bool
    parked: ParkReason | None
    limits: TenantConfig
    ledger: Ledger


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The pool and a page of its tenants, read by one script. ``more``: more tenants follow."""

    pool: PoolView
    tenants: tuple[TenantView, ...]
    more: bool
