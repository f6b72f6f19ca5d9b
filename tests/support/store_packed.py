"""Overwrites parts of stored records."""

from collections.abc import Mapping, Sequence

from fairlane.domain.events import KINDS, EndRow
from fairlane.store.codec import pack, pack_numbers, parts, unpack_numbers, unpack_texts
from fairlane.store.event_codec import kind_number
from fairlane.store.keys import (
    ATTEMPT_NUMBERS,
    LIMIT_NUMBERS,
    NO_LIMITS,
    POOL_SETTINGS,
    POOL_STATE,
    TASK_NUMBERS,
    TASK_TEXTS,
    TENANT_NUMBERS,
    TENANT_TEXTS,
    WORKER_NUMBERS,
    WORKER_TEXTS,
)
from fairlane.store.store import Store
from tests.support.store_raw import command


async def poke(store: Store, *key: str, **changes: object) -> None:
    """Overwrite parts of a pool's, tenant's or task's record, each where it stands."""
    left = dict(changes)
    if key[0] == "pool":
        await _poke_parts(store, store.keys.pool, {"settings": POOL_SETTINGS}, left)
        await _poke_numbers(store, (store.keys.pool, "state"), POOL_STATE, {}, left)
    elif key[0] == "tenant":
        tenant = key[1]
        if left.keys() & set(LIMIT_NUMBERS):
            await _poke_numbers(store, (store.keys.key("limits"), tenant), LIMIT_NUMBERS, NO_LIMITS, left)
            left["limited"] = 1
        await _poke_numbers(store, (store.keys.key("tenant"), tenant), TENANT_NUMBERS, {}, left, TENANT_TEXTS)
    elif key[0] == "worker":
        await _poke_numbers(store, (store.keys.key("worker"), key[1]), WORKER_NUMBERS, {}, left, WORKER_TEXTS)
    else:
        await _poke_task(store, ":".join(key[1:]), left)
    assert not left, left


async def read_numbers(store: Store, *key: str) -> dict[str, float]:
    """Return the numbers of the pool's state, or of a tenant with its limits."""
    if key[0] == "pool":
        return unpack_numbers(await command(store, "HGET", store.keys.pool, "state"), POOL_STATE)
    record = await command(store, "HGET", store.keys.key("tenant"), key[1])
    limits = await command(store, "HGET", store.keys.key("limits"), key[1])
    return unpack_numbers(record, TENANT_NUMBERS) | (unpack_numbers(limits, LIMIT_NUMBERS) if limits else NO_LIMITS)


def queued(cost: int, task: str) -> bytes:
    """Return a task's member in its tenant's queue."""
    return pack_numbers([cost]) + task.encode()


def pack_rows(*rows: Sequence[object]) -> bytes:
    """Encode event rows that begin with their kinds, as the scripts do."""
    return b"".join(_pack_row(row) for row in rows)


def _pack_row(row: Sequence[object]) -> bytes:
    ends = KINDS[str(row[0])] is EndRow
    data = bytes([kind_number("end" if ends else str(row[0]))])
    for value in row if ends else row[1:]:
        data += bytes([len(value)]) + value.encode() if isinstance(value, str) else pack_numbers([float(value)])  # type: ignore[arg-type]
    return data


async def _poke_numbers(
    store: Store,
    place: tuple[str, str],
    names: Sequence[str],
    absent: Mapping[str, float],
    left: dict[str, object],
    texts: Sequence[str] = (),
) -> None:
    if not left.keys() & {*names, *texts}:
        return
    raw = await command(store, "HGET", *place)
    numbers = unpack_numbers(raw, names) if raw else dict(absent)
    data = pack_numbers([float(left.pop(name, numbers[name])) for name in names])  # type: ignore[arg-type]
    if texts:
        old, _ = unpack_texts(raw, 8 * len(names), len(texts))
        for name, text in zip(texts, old, strict=True):
            value = str(left.pop(name, text.decode())).encode()
            data += bytes([len(value)]) + value
    await command(store, "HSET", *place, data)


async def _poke_parts(store: Store, name: str, fields: Mapping[str, Sequence[str]], left: dict[str, object]) -> None:
    for field, names in fields.items():
        if left.keys() & set(names):
            values = parts(await command(store, "HGET", name, field), names)
            values.update({part: left.pop(part) for part in names if part in left})  # type: ignore[misc]
            await command(store, "HSET", name, field, b"".join(pack(values[part]) for part in names))


async def _poke_task(store: Store, name: str, left: dict[str, object]) -> None:
    """Change the attempt while the task is in flight, then the record, which keeps its TTL."""
    entry = await command(store, "HGET", store.keys.key("flight"), name)
    if entry:
        head = _changed(entry, ATTEMPT_NUMBERS, ("worker",), left)
        rest = entry[len(_changed(entry, ATTEMPT_NUMBERS, ("worker",), {})) :]
        if rest:
            size = len(_changed(rest, TASK_NUMBERS, TASK_TEXTS, {}))
            rest = _changed(rest, TASK_NUMBERS, TASK_TEXTS, dict(left)) + rest[size:]
        await command(store, "HSET", store.keys.key("flight"), name, head + rest)
    if left:
        key = store.keys.key("task", *name.split(":", 1))
        raw = await command(store, "GET", key)
        head = _changed(raw, TASK_NUMBERS, TASK_TEXTS, left)
        size = len(_changed(raw, TASK_NUMBERS, TASK_TEXTS, {}))
        await command(store, "SET", key, head + raw[size:], "KEEPTTL")


def _changed(raw: bytes, names: Sequence[str], texts: Sequence[str], left: dict[str, object]) -> bytes:
    numbers = unpack_numbers(raw, names)
    data = pack_numbers([float(left.pop(name, numbers[name])) for name in names])  # type: ignore[arg-type]
    at = len(data)
    for text in texts:
        end = at + 1 + raw[at]
        value = str(left.pop(text)).encode() if text in left else raw[at + 1 : end]
        data += bytes([len(value)]) + value
        at = end
    return data
