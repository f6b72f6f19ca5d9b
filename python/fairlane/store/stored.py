"""Everything that one scheduler has stored, as typed values."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from fairlane.domain.task import TaskRef, TaskState
from fairlane.store.keys import POOL_BITS, POOL_OWNER, WINDOW_BITS


@dataclass(frozen=True, slots=True)
class StoredTask:
    """A record's fields that scripts act on. ``ttl_ms`` -1: none."""

    ref: TaskRef
    state: TaskState
    worker: str
    numbers: dict[str, int]
    ttl_ms: int

    @property
    def in_flight(self) -> bool:
        """True while an attempt holds slot and cost."""
        return self.state in {TaskState.ENQUEUED, TaskState.ACTIVE}

    @property
    def queued(self) -> bool:
        """True while it is in its tenant's queue."""
        return self.state is TaskState.PENDING and self.numbers["ready_at"] == 0

    @property
    def waiting(self) -> bool:
        """True while it waits outside the queue, for a backoff or a pause of its own."""
        return self.state is TaskState.PENDING and self.numbers["ready_at"] > 0

    @property
    def windows(self) -> Iterator[tuple[str, str]]:
        """The windows in which its attempt took a place: kind and owner."""
        own, shared = self.numbers["windows"] % POOL_BITS, self.numbers["windows"] // POOL_BITS
        for kind, bit in WINDOW_BITS.items():
            if own & bit:
                yield kind, self.ref.tenant
            if shared & bit:
                yield kind, POOL_OWNER

    @property
    def member(self) -> str:
        """Its name in its tenant's queue."""
        return f"{self.numbers['cost']}:{self.ref.id}"


@dataclass(frozen=True, slots=True)
class StoredTenant:
    """A tenant's limits and counters. ``place``: '' (idle), ``calendar``, or the limit that parked it."""

    place: str
    numbers: dict[str, int]
    reals: dict[str, float]


@dataclass(frozen=True, slots=True)
class StoredWorker:
    """One incarnation."""

    name: str
    state: str
    load: int


class CalendarEntry(NamedTuple):
    """A runnable tenant. ``rank``: its virtual time, or the score of its next task in strict order."""

    tenant: str
    arrival: int
    rank: float


class Stamp(NamedTuple):
    """The starts, and their cost, that an owner's windows count from one moment on."""

    at_ms: int
    starts: int
    spend: int


@dataclass(frozen=True, slots=True)
class StoredKey:
    """One key. ``kind`` is a `KeySpec`'s name; ``ttl_ms`` -1: none."""

    key: str
    kind: str
    ttl_ms: int


@dataclass(slots=True)
class Stored:
    """All keys of one scheduler."""

    policy: str = ""
    pool: dict[str, int] = field(default_factory=dict)
    reals: dict[str, float] = field(default_factory=dict)
    """The pool's numbers that are doubles."""
    keys: list[StoredKey] = field(default_factory=list)
    """Those of the schema."""
    unknown: list[str] = field(default_factory=list)
    """Keys that are not of the schema."""
    fractions: dict[str, float] = field(default_factory=dict)
    """Numbers that are not whole, by hash and part; read as 0 elsewhere."""
    registered: set[str] = field(default_factory=set)
    tenants: dict[str, StoredTenant] = field(default_factory=dict)
    tasks: dict[TaskRef, StoredTask] = field(default_factory=dict)
    pending: dict[str, dict[str, int]] = field(default_factory=dict)
    calendar: list[CalendarEntry] = field(default_factory=list)
    parked: dict[str, str] = field(default_factory=dict)
    timers: dict[str, int] = field(default_factory=dict)
    windows: dict[str, list[Stamp]] = field(default_factory=dict)
    """By owner, oldest first."""
    leases: dict[str, int] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    workers: dict[str, StoredWorker] = field(default_factory=dict)
    handed: dict[str, dict[str, int]] = field(default_factory=dict)
    cancelling: dict[str, dict[str, int]] = field(default_factory=dict)
