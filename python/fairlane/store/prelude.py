"""The Lua that comes before every script: what Python also knows, so that nothing is written twice.

Tenants, tasks and the pool are Lua arrays, which the server makes much faster than tables with names. The sources write
`t.slots`; the loader puts the index there (`slotted`). An `owner` is a tenant or the pool, so both keep the fields of
their windows at the same indexes.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from fairlane.domain.limits import MAX_COST, MAX_SERVED, MAX_VIRTUAL_SERVICE, PRIORITY_STEP
from fairlane.store import bounds, keys
from fairlane.store.codec import doubles, pack, pack_numbers
from fairlane.store.event_codec import lua_writers

VISIT_LIMIT: Final = 256
TIMER_LIMIT: Final = 256
RECOVERY_LIMIT: Final = 100
WINDOW_TRIM: Final = 1000
EVENT_OVERHEAD: Final = 64
"""About how many bytes an event has beside its rows."""
LARGEST_END: Final = 4096
"""A record that ends with more bytes is not sent to its client, who reads it."""

_NOTES: Final = {
    "dirty": "false",
    "rolled": "false",
    "rank": "false",
    "entry": "false",
    "ranked": "false",
    "unparked": "false",
    "largest_cost": "false",
    "stored": "0",
    "queue": "false",
    "page": "false",
    "page_from": "0",
    "page_size": "0",
    "page_at": "1",
    "gone": "false",
    "added": "false",
}
"""A call's own notes on a tenant, and their first values."""
_OWNER: Final = (*keys.WINDOWS, "moved")
"""What tenants and the pool have at the same indexes. ``moved``: a note that a tenant's entry in `limits` changes."""
_POOL: Final = (*_OWNER, *(name for name in (*keys.POOL_SETTINGS, *keys.POOL_STATE) if name not in keys.WINDOWS))
_TENANT: Final = (
    *_OWNER,
    *keys.LIMIT_NUMBERS[len(keys.WINDOWS) :],
    "id",
    *_NOTES,
    *keys.TENANT_NUMBERS,
    *keys.TENANT_TEXTS,
)
_RECORD_NOTES: Final = {
    "whole": "whole",
    "dirty": "false",
    "header": "false",
    "flying": "false",
    "body": "false",
    "charge": "0",
    "period": "0",
    "windows": "0",
    "cancel": "0",
}
"""A call's own notes on a task, and their first values. ``whole``: the record as it is stored, or false."""
_REF: Final = ("tenant", "id")
"""What the items of a batch begin with."""
_RECORD: Final = ("tenant", "id", "name", *_RECORD_NOTES, *keys.TASK_NUMBERS, *keys.TASK_TEXTS, "error", "body_at")
_SLOTS: Final = {
    array: {name: index for index, name in enumerate(names, 1)}
    for array, names in (("t", _TENANT), ("pool", _POOL), ("owner", _OWNER), ("record", _RECORD), ("ref", _REF))
}
_SLOTTED: Final = re.compile(rf"\b({'|'.join(_SLOTS)})\.(\w+)")
_TASK_FORMAT: Final = doubles(keys.TASK_NUMBERS) + "Bc0" * len(keys.TASK_TEXTS) + "I4c0"
_ATTEMPT_FORMAT: Final = doubles(keys.ATTEMPT_NUMBERS) + "Bc0"
_WORKER_FORMAT: Final = doubles(keys.WORKER_NUMBERS) + "Bc0" * len(keys.WORKER_TEXTS)
_TENANT_FORMAT: Final = doubles(keys.TENANT_NUMBERS) + "Bc0" * len(keys.TENANT_TEXTS)


def slotted(text: str) -> str:
    """Replace the named fields of tenants, tasks and the pool by their indexes, and constants by their values.

    Raises:
        ValueError: there is no such field.

    """

    def index(found: re.Match[str]) -> str:
        array, name = found.groups()
        if name not in _SLOTS[array]:
            raise ValueError(f"{found[0]}: the fields are {', '.join(_SLOTS[array])}")
        return f"{array}[{_SLOTS[array][name]}]"

    return _CONSTANT.sub(lambda found: _CONSTANTS[found[0]], _SLOTTED.sub(index, text))


def _lua_list(values: Sequence[str]) -> str:
    return "{ " + ", ".join(f"'{value}'" for value in values) + " }"


def _lua_bytes(data: bytes) -> str:
    return "'" + "".join(f"\\{byte:03}" for byte in data) + "'"


def _packed(names: Sequence[str], values: Mapping[str, int]) -> bytes:
    return pack_numbers([values.get(name, 0) for name in names])


_CONSTANTS: Final[Mapping[str, str]] = {
    "PRIORITY_STEP": str(PRIORITY_STEP),
    "MAX_COST": str(MAX_COST),
    "MAX_SERVED": str(MAX_SERVED),
    "MAX_VIRTUAL_SERVICE": str(MAX_VIRTUAL_SERVICE),
    "BELL_TTL": str(keys.BELL_TTL_MS),
    "VISIT_LIMIT": str(VISIT_LIMIT),
    "TIMER_LIMIT": str(TIMER_LIMIT),
    "RECOVERY_LIMIT": str(RECOVERY_LIMIT),
    "WINDOW_TRIM": str(WINDOW_TRIM),
    "LARGEST_END": str(LARGEST_END),
    "EVENT_OVERHEAD": str(EVENT_OVERHEAD),
    "BODY_AT": str(_SLOTS["record"]["body_at"]),
    "POOL_BITS": str(keys.POOL_BITS),
    "POOL_OWNER": f"'{keys.POOL_OWNER}'",
    "STARTS_BIT": str(keys.WINDOW_BITS["starts"]),
    "SPEND_BIT": str(keys.WINDOW_BITS["spend"]),
    "NO_SETTINGS": _lua_bytes(b"".join(pack("" if name in keys.TEXT else 0) for name in keys.POOL_SETTINGS)),
    "NO_STATE": _lua_bytes(_packed(keys.POOL_STATE, {})),
    "NO_LIMITS": _lua_bytes(_packed(keys.LIMIT_NUMBERS, keys.NO_LIMITS)),
    "NEW_TENANT": _lua_bytes(
        _packed(keys.TENANT_NUMBERS, {"weight": 1, "ratio": 1000}) + bytes(len(keys.TENANT_TEXTS))
    ),
}
"""Scalars: the loader puts their values into the text, so that a script has no local for them."""
_CONSTANT: Final = re.compile(rf"\b({'|'.join(_CONSTANTS)})\b")


def _fields(array: str, names: Sequence[str]) -> str:
    return ", ".join(f"{array}.{name}" for name in names)


def _slots(array: str, names: Sequence[str]) -> str:
    """Return a Lua table from a field's name to its index."""
    return "{ " + ", ".join(f"{name} = {_SLOTS[array][name]}" for name in names) + " }"


def _view(array: str, names: Sequence[str]) -> str:
    return "{ " + ", ".join(str(_SLOTS[array][name]) for name in names) + " }"


def _key_functions() -> list[str]:
    lines = []
    for spec in keys.KEYS:
        parameters = re.findall(r"<(\w+)>", spec.pattern)
        if not parameters:
            lines.append(f"local {spec.name}_key = prefix .. '{spec.pattern}'")
        else:
            arguments = ", ".join(parameters)
            pieces = " .. ':' .. ".join(parameters)
            lines.append(f"local function {spec.name}_key({arguments}) return prefix .. '{spec.name}:' .. {pieces} end")
    return lines


def _read_pool() -> str:
    """Return the Lua function from the pool's two fields to its array."""
    return (
        f"local function read_pool(settings, state) local {', '.join(keys.POOL_SETTINGS)} = cmsgpack.unpack(settings)"
        f" if schema ~= {keys.SCHEMA_VERSION} then if COMMAND ~= 'put_pool' then"
        " error('fairlane: the state was written by another version of Fairlane') end state = nil end"
        f" local {', '.join(keys.POOL_STATE)} = struct.unpack('{doubles(keys.POOL_STATE)}', state or NO_STATE)"
        f" return {{ {', '.join(_POOL).replace('moved', 'false')} }} end"
    )


def _read_tenant() -> str:
    """Return the Lua function from a tenant's record and its limits, or nil, to its array, made at its full size."""
    notes = ", ".join(("id", *_NOTES.values()))
    record = f"struct.unpack('{_TENANT_FORMAT}', raw)"
    names = ", ".join(keys.LIMIT_NUMBERS)
    stored = ", ".join("false" if name == "moved" else name for name in _TENANT[: len(keys.LIMIT_NUMBERS) + 1])
    none = ", ".join(str(keys.NO_LIMITS.get(name, "false")) for name in _TENANT[: len(keys.LIMIT_NUMBERS) + 1])
    return (
        "local function read_tenant(id, raw, limits)"
        f" if limits then local {names} = struct.unpack('{doubles(keys.LIMIT_NUMBERS)}', limits)"
        f" return {{ {stored}, {notes}, {record} }} end return {{ {none}, {notes}, {record} }} end"
    )


def _pack_tenant() -> str:
    texts = ", ".join(f"#t.{name}, t.{name}" for name in keys.TENANT_TEXTS)
    return (
        f"local function pack_tenant(t) return struct.pack('{_TENANT_FORMAT}',"
        f" {_fields('t', keys.TENANT_NUMBERS)}, {texts}) end"
    )


def _pack_numbers(name: str, array: str, names: Sequence[str]) -> str:
    return f"local function {name}({array}) return struct.pack('{doubles(names)}', {_fields(array, names)}) end"


def _read_task() -> str:
    """Return the Lua function from a header, at its place in a text, to a task's array."""
    notes = ", ".join(("tenant", "id", "name", *_RECORD_NOTES.values()))
    return (
        "local function read_task(tenant, id, name, whole, raw, at)"
        f" return {{ {notes}, struct.unpack('{_TASK_FORMAT}', raw, at) }} end"
    )


def _pack_task(function: str, parameters: str, values: Mapping[str, str]) -> str:
    """Return a Lua function to a header. ``values``: the expression of each field; 0 or '' for the others."""
    numbers = [values.get(name, "0") for name in keys.TASK_NUMBERS]
    texts = [values.get(name, "''") for name in (*keys.TASK_TEXTS, "error")]
    fields = ", ".join((*numbers, *(f"#{text}, {text}" for text in texts)))
    return f"local function {function}({parameters}) return struct.pack('{_TASK_FORMAT}', {fields}) end"


def _pack_new_task() -> str:
    given = ("cost", "score", "priority", "submitted", "deadline", "keep", "unknown", "floor", "client", "fingerprint")
    return _pack_task("pack_new_task", ", ".join(given), {name: name for name in given} | {"state": "'pending'"})


def _attempts() -> Iterator[str]:
    """Yield the Lua functions between an attempt's entry and its values, or its task's array."""
    names = (*keys.ATTEMPT_NUMBERS, "worker")
    parameters = ", ".join(names[1:])
    yield f"local function read_attempt(entry) return struct.unpack('{_ATTEMPT_FORMAT}', entry) end"
    yield (
        f"local function pack_new_attempt({parameters})"
        f" return struct.pack('{_ATTEMPT_FORMAT}', 0, {parameters.replace('worker', '#worker, worker')}) end"
    )
    values = ", ".join(f"record.{name}" for name in keys.ATTEMPT_NUMBERS[1:])
    yield (
        f"local function pack_attempt(record) return struct.pack('{_ATTEMPT_FORMAT}',"
        f" record.state == 'active' and 1 or 0, {values}, #record.worker, record.worker) end"
    )


def _workers() -> Iterator[str]:
    """Yield the Lua functions between a worker's entry and its table."""
    names = (*keys.WORKER_NUMBERS, *keys.WORKER_TEXTS)
    table = ", ".join(f"{name} = {name}" for name in names)
    yield (
        f"local function read_worker(raw) local {', '.join(names)} = struct.unpack('{_WORKER_FORMAT}', raw)"
        f" return {{ {table}, dirty = false }} end"
    )
    values = ", ".join((*(f"w.{name}" for name in keys.WORKER_NUMBERS), *(f"#w.{n}, w.{n}" for n in keys.WORKER_TEXTS)))
    yield f"local function pack_worker(w) return struct.pack('{_WORKER_FORMAT}', {values}) end"


def _bounds(table: Mapping[str, bounds.Bounds]) -> str:
    return "{ " + ", ".join(f"{field} = {{ {low}, {high} }}" for field, (low, high) in table.items()) + " }"


@cache
def prelude() -> str:
    """Return the definitions, one a line: keys, records, events, states and limits."""
    lines = [
        "local prefix = string.sub(KEYS[1], 1, -5)",
        *_key_functions(),
        "local task_prefix = prefix .. 'task:'",
        f"local TENANT_SETTINGS = {_lua_list(keys.TENANT_SETTINGS)}",
        f"local TENANT_SLOTS = {_slots('t', keys.TENANT_SETTINGS)}",
        f"local TENANT_VIEW = {_view('t', keys.TENANT_VIEW)}",
        f"local TENANT_BOUNDS = {_bounds(bounds.TENANT_BOUNDS)}",
        f"local POOL_SETTINGS = {_lua_list(keys.POOL_SETTINGS)}",
        f"local POOL_SLOTS = {_slots('pool', keys.POOL_SETTINGS)}",
        f"local POOL_VIEW = {_view('pool', keys.POOL_SETTINGS + keys.POOL_STATE)}",
        f"local POOL_BOUNDS = {_bounds(bounds.POOL_BOUNDS)}",
        _read_pool(),
        _pack_numbers("pack_pool_state", "pool", keys.POOL_STATE),
        f"local function pack_pool_settings(pool) return cmsgpack.pack({_fields('pool', keys.POOL_SETTINGS)}) end",
        "local function is_limited(raw) return struct.unpack('<d', raw) == 1 end",
        _read_tenant(),
        _pack_tenant(),
        _pack_numbers("pack_limits", "t", keys.LIMIT_NUMBERS),
        _read_task(),
        _pack_task("pack_header", "record", {name: f"record.{name}" for name in _RECORD}),
        _pack_new_task(),
        *_attempts(),
        *_workers(),
        "local rows = {}",
        *lua_writers(),
    ]
    return slotted("\n".join(lines)) + "\n"
