"""Everything one scheduler has stored, read key by key.

Reads only. What is read is no single instant; `fairlane.audit.invariants` reads again when something moved.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from fairlane.domain.task import TaskRef, TaskState
from fairlane.store.codec import first_value, parts, unpack_row
from fairlane.store.keys import KEYS, POOL_HASH, SCHEMA_VERSION, STAMP, TASK_HASH, TENANT_HASH, WORKER_FIELDS
from fairlane.store.refusals import other_version
from fairlane.store.store import Store

_PER_TRIP: Final = 500
_KINDS: Final = frozenset(spec.name for spec in KEYS)
_PACKED: Final = ("facts", "attempt", "counts")
_PLAIN: Final = ("cancel", "ready_at")


@dataclass(frozen=True, slots=True)
class StoredTask:
    """A record's fields that scripts act on."""

    ref: TaskRef
    state: TaskState
    worker: str
    numbers: dict[str, int]

    @property
    def in_flight(self) -> bool:
        """True while an attempt holds slot and cost."""
        return self.state in {TaskState.ENQUEUED, TaskState.ACTIVE}

    @property
    def queued(self) -> bool:
        """True while it stands in its tenant's queue."""
        return self.state is TaskState.PENDING and self.numbers["ready_at"] == 0

    @property
    def waiting(self) -> bool:
        """True while it waits by itself, outside the queue."""
        return self.state is TaskState.PENDING and self.numbers["ready_at"] > 0

    @property
    def member(self) -> str:
        """Its name in its tenant's queue."""
        return f"{self.numbers['cost']}:{self.ref.id}"


@dataclass(frozen=True, slots=True)
class StoredTenant:
    """A tenant's limits and counters. ``place``: '' (idle), ``calendar``, or the limit that parked it."""

    place: str
    numbers: dict[str, int]


@dataclass(frozen=True, slots=True)
class StoredWorker:
    """One incarnation."""

    name: str
    state: str
    load: int


class Stamp(NamedTuple):
    """What began to count in an owner's windows at one time."""

    at_ms: int
    starts: int
    spend: int


@dataclass(slots=True)
class Stored:
    """All keys of one scheduler by kind; ``ttl_ms`` by key, -1 = none."""

    policy: str = ""
    pool: dict[str, int] = field(default_factory=dict)
    ttl_ms: dict[str, int] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    fractions: dict[str, float] = field(default_factory=dict)
    """Numbers that are not whole, by hash and part; read as 0 elsewhere."""
    registered: set[str] = field(default_factory=set)
    tenants: dict[str, StoredTenant] = field(default_factory=dict)
    tasks: dict[TaskRef, StoredTask] = field(default_factory=dict)
    pending: dict[str, dict[str, int]] = field(default_factory=dict)
    calendar: dict[str, int] = field(default_factory=dict)
    parked: dict[str, str] = field(default_factory=dict)
    timers: dict[str, int] = field(default_factory=dict)
    windows: dict[str, list[Stamp]] = field(default_factory=dict)
    """By owner, oldest first."""
    leases: dict[str, int] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    workers: dict[str, StoredWorker] = field(default_factory=dict)
    owned: dict[str, dict[str, int]] = field(default_factory=dict)
    cancelling: dict[str, dict[str, int]] = field(default_factory=dict)


async def read_stored(store: Store) -> Stored:
    """Read everything under the scheduler's prefix.

    Raises:
        StoreError: the server could not be read.

    """
    prefix = store.keys.prefix
    keys = await _scan(store, f"{prefix}*")
    stored = Stored()
    by_kind: dict[str, list[tuple[str, str]]] = {kind: [] for kind in _KINDS}
    for key, ttl in zip(keys, await _each(store, [("PTTL", key) for key in keys]), strict=True):
        if ttl == -2:
            continue  # it ran out since the scan
        stored.ttl_ms[key] = int(ttl)
        kind, _, rest = key.removeprefix(prefix).partition(":")
        if kind in by_kind:
            by_kind[kind].append((key, rest))
        else:
            stored.unknown.append(key)
    await _read_pool(store, stored)
    await _read_tenants(store, stored, by_kind)
    await _read_tasks(store, stored, by_kind["task"])
    await _read_workers(store, stored, by_kind)
    return stored


async def read_pool(store: Store) -> dict[str, int]:
    """Read the pool's numbers.

    Raises:
        ConfigError: another version of Fairlane wrote the state.

    """
    await _check_schema(store)
    return _whole_numbers(await _read_packed(store, store.keys.pool, POOL_HASH))


async def _check_schema(store: Store) -> None:
    settings = await store.command("HGET", store.keys.pool, "settings")
    schema = first_value(settings) if settings else SCHEMA_VERSION
    if schema != SCHEMA_VERSION:
        raise other_version(store.keys, schema)


async def _read_pool(store: Store, stored: Stored) -> None:
    fields = await _read_packed(store, store.keys.pool, POOL_HASH)
    stored.pool = _whole_numbers(fields)
    stored.fractions |= _fractions("pool", fields)
    stored.policy = str(fields["policy"])


async def _read_packed(store: Store, key: str, spec: Mapping[str, Sequence[str]]) -> dict[str, int | str]:
    return _unpacked(spec, await store.command("HMGET", key, *spec))


def _unpacked(spec: Mapping[str, Sequence[str]], raw: Sequence[bytes | None]) -> dict[str, int | str]:
    fields: dict[str, int | str] = {}
    for packed, names in zip(raw, spec.values(), strict=True):
        fields |= parts(packed, names)
    return fields


def _whole_numbers(fields: Mapping[str, int | str | float]) -> dict[str, int]:
    return {
        name: 0 if isinstance(value, float) else value for name, value in fields.items() if not isinstance(value, str)
    }


def _fractions(subject: str, fields: Mapping[str, int | str | float]) -> dict[str, float]:
    return {f"{subject} {name}": value for name, value in fields.items() if isinstance(value, float)}


async def _read_tenants(store: Store, stored: Stored, by_kind: dict[str, list[tuple[str, str]]]) -> None:
    key = store.keys.key
    stored.registered = set(_scores(await _zset(store, key("tenants"))))
    stored.calendar = _scores(await _zset(store, key("calendar")))
    stored.timers = _scores(await _zset(store, key("timers")))
    stored.parked = _texts(await store.command("HGETALL", key("parked")))
    replies = await _each(store, [("HMGET", each, *TENANT_HASH) for each, _ in by_kind["tenant"]])
    for (_, tenant), raw in zip(by_kind["tenant"], replies, strict=True):
        fields = _unpacked(TENANT_HASH, raw)
        stored.fractions |= _fractions(f"tenant:{tenant}", fields)
        stored.tenants[tenant] = StoredTenant(str(fields["place"]), _whole_numbers(fields))
    stored.pending = await _zsets(store, by_kind["pending"])
    replies = await _each(store, [("LRANGE", each, 0, -1) for each, _ in by_kind["window"]])
    for (_, owner), stamps in zip(by_kind["window"], replies, strict=True):
        stored.windows[owner] = [Stamp(*unpack_row(stamp, len(STAMP))) for stamp in stamps]


async def _read_tasks(store: Store, stored: Stored, keys: list[tuple[str, str]]) -> None:
    spec = {field: TASK_HASH[field] for field in _PACKED}
    replies = await _each(store, [("HMGET", key, "state", *_PACKED, *_PLAIN) for key, _ in keys])
    for (key, name), (state, *raw) in zip(keys, replies, strict=True):
        if state is None:
            if await store.command("EXISTS", key):
                stored.unknown.append(key)
            continue
        tenant, _, task = name.partition(":")
        ref = TaskRef(tenant, task)
        fields = _unpacked(spec, raw[: len(_PACKED)])
        stored.fractions |= _fractions(f"task:{ref}", fields)
        numbers = _whole_numbers(fields) | _numbers(_PLAIN, raw[len(_PACKED) :])
        stored.tasks[ref] = StoredTask(ref, TaskState(state.decode()), str(fields["worker"]), numbers)


async def _read_workers(store: Store, stored: Stored, by_kind: dict[str, list[tuple[str, str]]]) -> None:
    stored.leases = _scores(await _zset(store, store.keys.key("workers")))
    stored.names = _texts(await store.command("HGETALL", store.keys.key("names")))
    replies = await _each(store, [("HMGET", key, *WORKER_FIELDS) for key, _ in by_kind["worker"]])
    for (_, incarnation), raw in zip(by_kind["worker"], replies, strict=True):
        text = dict(zip(WORKER_FIELDS, ((value or b"").decode() for value in raw), strict=True))
        stored.workers[incarnation] = StoredWorker(text["name"], text["state"], int(text["load"] or 0))
    stored.owned = await _zsets(store, by_kind["owned"])
    stored.cancelling = await _zsets(store, by_kind["cancelling"])


async def _scan(store: Store, pattern: str) -> list[str]:
    found: set[bytes] = set()
    cursor: bytes | int = 0
    while True:
        cursor, page = await store.command("SCAN", cursor, "MATCH", pattern, "COUNT", 1000)
        found.update(page)
        if int(cursor) == 0:
            return sorted(key.decode() for key in found)


async def _each(store: Store, commands: Sequence[tuple[str | bytes | int, ...]]) -> list[Any]:
    replies: list[Any] = []
    for first in range(0, len(commands), _PER_TRIP):
        replies += await store.commands(commands[first : first + _PER_TRIP])
    return replies


async def _zset(store: Store, key: str) -> Sequence[bytes]:
    reply: Sequence[bytes] = await store.command("ZRANGE", key, 0, -1, "WITHSCORES")
    return reply


async def _zsets(store: Store, keys: list[tuple[str, str]]) -> dict[str, dict[str, int]]:
    replies = await _each(store, [("ZRANGE", key, 0, -1, "WITHSCORES") for key, _ in keys])
    return {name: _scores(reply) for (_, name), reply in zip(keys, replies, strict=True)}


def _scores(flat: Sequence[bytes]) -> dict[str, int]:
    return {member.decode(): int(float(score)) for member, score in zip(flat[::2], flat[1::2], strict=True)}


def _texts(flat: Sequence[bytes]) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in zip(flat[::2], flat[1::2], strict=True)}


def _numbers(fields: Sequence[str], raw: Sequence[bytes | None]) -> dict[str, int]:
    return {name: int(float(value)) if value else 0 for name, value in zip(fields, raw, strict=True)}
