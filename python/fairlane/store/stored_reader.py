"""Reads every key of a scheduler, or the pool's numbers alone. Writes nothing."""

import struct
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from fairlane.domain.task import TaskRef, TaskState
from fairlane.store.codec import first_value, parts, unpack_numbers, unpack_row, unpack_texts, worker_record
from fairlane.store.connection import Command
from fairlane.store.keys import (
    KEYS,
    LIMIT_NUMBERS,
    NO_LIMITS,
    POOL_SETTINGS,
    POOL_STATE,
    REALS,
    SCHEMA_VERSION,
    STAMP,
    TENANT_NUMBERS,
    TENANT_TEXTS,
    Keys,
)
from fairlane.store.refusals import other_version
from fairlane.store.stored import CalendarEntry, Stamp, Stored, StoredKey, StoredTask, StoredTenant, StoredWorker
from fairlane.store.task_codec import attempt, task_record

_PER_TRIP: Final = 500
_KINDS: Final = frozenset(spec.name for spec in KEYS)
_HEADER_BYTES: Final = 4096
_NO_ATTEMPT: Final = dict.fromkeys(("charge", "period", "windows", "cancel"), 0)

Run = Callable[[Sequence[Command]], Awaitable[list[Any]]]
"""Sends commands in one round trip and returns their replies."""


class _Named(NamedTuple):
    """A key, and its part behind the kind: an id, an owner, `tenant:id`."""

    key: str
    name: str
    ttl_ms: int


class StoredReader:
    """Reads one scheduler's keys, several hundred a round trip."""

    def __init__(self, run: Run, keys: Keys) -> None:
        self._run = run
        self._keys = keys

    async def pool(self) -> dict[str, int]:
        """Read the pool's numbers.

        Raises:
            ConfigError: another version of Fairlane wrote the state.

        """
        (settings,) = await self._run([("HGET", self._keys.pool, "settings")])
        schema = first_value(settings) if settings else SCHEMA_VERSION
        if schema != SCHEMA_VERSION:
            raise other_version(self._keys, schema)
        return _whole_numbers(await self._pool_fields())

    async def everything(self, names: Sequence[str]) -> Stored:
        """Read the scheduler's keys, which are ``names``."""
        stored = Stored()
        by_kind: dict[str, list[_Named]] = {kind: [] for kind in _KINDS}
        for key, ttl in zip(names, await self._each([("PTTL", name) for name in names]), strict=True):
            kind = self._keys.kind_of(key)
            if ttl == -2:
                continue  # it ran out since the scan
            if kind not in by_kind:
                stored.unknown.append(key)
                continue
            stored.keys.append(StoredKey(key, kind, ttl))
            by_kind[kind].append(_Named(key, key.removeprefix(f"{self._keys.prefix}{kind}:"), ttl))
        fields = await self._pool_fields()
        stored.pool, stored.reals, stored.policy = _whole_numbers(fields), _reals(fields), str(fields["policy"])
        stored.fractions |= _fractions("pool", fields)
        await self._tenants(stored, by_kind)
        await self._tasks(stored, by_kind["task"])
        await self._workers(stored, by_kind)
        return stored

    async def _pool_fields(self) -> dict[str, int | float | str]:
        ((settings, state),) = await self._run([("HMGET", self._keys.pool, "settings", "state")])
        numbers = unpack_numbers(state, POOL_STATE) if state else dict.fromkeys(POOL_STATE, 0)
        return {**parts(settings, POOL_SETTINGS), **numbers}

    async def _tenants(self, stored: Stored, by_kind: dict[str, list[_Named]]) -> None:
        key = self._keys.key
        registered, calendar, timers = await self._each(
            [_zset(key(kind)) for kind in ("tenants", "calendar", "timers")]
        )
        stored.registered, stored.timers = set(_scores(registered)), _scores(timers)
        stored.calendar = [_entry(*pair) for pair in zip(calendar[::2], calendar[1::2], strict=True)]
        (parked,) = await self._run([("HGETALL", key("parked"))])
        stored.parked = _texts(parked)
        records, limits = await self._each([("HGETALL", key("tenant")), ("HGETALL", key("limits"))])
        limited = dict(zip(limits[::2], limits[1::2], strict=True))
        stored.pending = await self._queues(by_kind["pending"])
        for name, record in zip(records[::2], records[1::2], strict=True):
            tenant = name.decode()
            numbers = unpack_numbers(record, TENANT_NUMBERS)
            texts, _ = unpack_texts(record, 8 * len(TENANT_NUMBERS), len(TENANT_TEXTS))
            place, head = (text.decode() for text in texts)
            if head:
                queue = stored.pending.setdefault(tenant, {})
                queue[f"{numbers['head_cost']}:{head}"] = int(numbers["head_score"])
            fields = numbers | (unpack_numbers(limited.pop(name), LIMIT_NUMBERS) if numbers["limited"] else NO_LIMITS)
            stored.fractions |= _fractions(f"tenant:{tenant}", fields)
            stored.tenants[tenant] = StoredTenant(place, _whole_numbers(fields), _reals(fields))
        stored.unknown += [f"{key('limits')} {name.decode()}" for name in limited]
        replies = await self._each([("LRANGE", each.key, 0, -1) for each in by_kind["window"]])
        for each, stamps in zip(by_kind["window"], replies, strict=True):
            stored.windows[each.name] = [Stamp(*unpack_row(stamp, len(STAMP))) for stamp in stamps]

    async def _tasks(self, stored: Stored, tasks: list[_Named]) -> None:
        (entries,) = await self._run([("HGETALL", self._keys.key("flight"))])
        flight = dict(zip(entries[::2], entries[1::2], strict=True))
        replies = await self._each([("GETRANGE", each.key, 0, _HEADER_BYTES) for each in tasks])
        for each, raw in zip(tasks, replies, strict=True):
            if not raw:
                continue  # it ran out since the scan
            try:
                record = task_record(raw)
            except (struct.error, IndexError, ValueError):
                stored.unknown.append(each.key)
                continue
            ref, entry = TaskRef(*each.name.split(":", 1)), flight.pop(each.name.encode(), None)
            numbers, state, worker = {**record.numbers, **_NO_ATTEMPT}, TaskState(record.state), record.worker
            if entry:
                flying = attempt(entry)
                numbers, state, worker = numbers | flying.numbers, flying.state, flying.worker
            stored.fractions |= _fractions(f"task:{ref}", numbers)
            stored.tasks[ref] = StoredTask(ref, state, worker, _whole_numbers(numbers), each.ttl_ms)
        stored.unknown += [f"{self._keys.key('flight')} {name.decode()}" for name in flight]

    async def _workers(self, stored: Stored, by_kind: dict[str, list[_Named]]) -> None:
        leases, names = await self._run([_zset(self._keys.key("workers")), ("HGETALL", self._keys.key("names"))])
        stored.leases, stored.names = _scores(leases), _texts(names)
        (entries,) = await self._run([("HGETALL", self._keys.key("worker"))])
        for incarnation, raw in zip(entries[::2], entries[1::2], strict=True):
            numbers, state, name = worker_record(raw)
            stored.workers[incarnation.decode()] = StoredWorker(name, state, numbers["load"])
        stored.handed = await self._zsets(by_kind["handed"])
        stored.cancelling = await self._zsets(by_kind["cancelling"])

    async def _each(self, commands: Sequence[Command]) -> list[Any]:
        replies: list[Any] = []
        for first in range(0, len(commands), _PER_TRIP):
            replies += await self._run(commands[first : first + _PER_TRIP])
        return replies

    async def _queues(self, keys: list[_Named]) -> dict[str, dict[str, int]]:
        replies = await self._each([_zset(each.key) for each in keys])
        return {
            each.name: {
                f"{next(iter(unpack_numbers(member, ('cost',)).values()))}:{member[8:].decode()}": int(float(score))
                for member, score in zip(reply[::2], reply[1::2], strict=True)
            }
            for each, reply in zip(keys, replies, strict=True)
        }

    async def _zsets(self, keys: list[_Named]) -> dict[str, dict[str, int]]:
        replies = await self._each([_zset(each.key) for each in keys])
        return {each.name: _scores(reply) for each, reply in zip(keys, replies, strict=True)}


def _zset(key: str) -> Command:
    return ("ZRANGE", key, 0, -1, "WITHSCORES")


def _whole_numbers(fields: Mapping[str, int | float | str]) -> dict[str, int]:
    return {
        name: 0 if isinstance(value, float) else value
        for name, value in fields.items()
        if name not in REALS and not isinstance(value, str)
    }


def _reals(fields: Mapping[str, int | float | str]) -> dict[str, float]:
    return {name: float(value) for name, value in fields.items() if name in REALS}


def _fractions(subject: str, fields: Mapping[str, int | float | str]) -> dict[str, float]:
    return {
        f"{subject} {name}": value for name, value in fields.items() if name not in REALS and isinstance(value, float)
    }


def _entry(member: bytes, rank: bytes) -> CalendarEntry:
    (arrival,) = struct.unpack_from(">d", member)
    return CalendarEntry(member[8:].decode(), int(arrival), float(rank))


def _scores(flat: Sequence[bytes]) -> dict[str, int]:
    return {member.decode(): int(float(score)) for member, score in zip(flat[::2], flat[1::2], strict=True)}


def _texts(flat: Sequence[bytes]) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in zip(flat[::2], flat[1::2], strict=True)}
