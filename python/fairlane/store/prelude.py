"""The Lua that comes before every script: what Python also knows, so that nothing is written twice.

Tenants and the pool are Lua arrays, which the server makes much faster than tables with names. The sources write
`t.slots`; the loader puts the index there (`slotted`). An `owner` is either of the two, so both keep the fields of their
windows at the same indexes.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from fairlane.domain.limits import MAX_COST, MAX_SERVED, MAX_VIRTUAL_SERVICE, PRIORITY_STEP
from fairlane.domain.task import TASK_TRANSITIONS
from fairlane.store import bounds, keys
from fairlane.store.codec import doubles, pack, pack_numbers
from fairlane.store.event_codec import lua_writers

VISIT_LIMIT: Final = 256
TIMER_LIMIT: Final = 256
RECOVERY_LIMIT: Final = 100
WINDOW_TRIM: Final = 1000

VIEW_FIELDS: Final = ("state", "facts", "attempt", "counts", "started", "end", "result")
_MOVE_FIELDS: Final = ("state", "facts", "attempt", "counts", "cancel", "ready_at")
"""The fields that scripts read to move a task."""
_START_FIELDS: Final = ("state", "facts", "counts", "attempt")

_NOTES: Final = {
    "dirty": "false",
    "rolled": "false",
    "rank": "false",
    "entry": "false",
    "unparked": "false",
    "largest_cost": "false",
    "stored": "0",
    "page": "false",
    "page_from": "0",
    "page_size": "0",
    "page_at": "1",
    "gone": "false",
    "added": "false",
}
"""A call's own notes on a tenant, and their first values."""
_POOL: Final = (*keys.WINDOWS, *(name for name in (*keys.POOL_SETTINGS, *keys.POOL_STATE) if name not in keys.WINDOWS))
_TENANT: Final = (*keys.TENANT_LIMITS, "id", *_NOTES, *keys.TENANT_RECORD, *keys.TENANT_TEXT)
_SLOTS: Final = {
    array: {name: index for index, name in enumerate(names, 1)}
    for array, names in (("t", _TENANT), ("pool", _POOL), ("owner", keys.WINDOWS))
}
_SLOTTED: Final = re.compile(rf"\b({'|'.join(_SLOTS)})\.(\w+)")
_TENANT_FORMAT: Final = doubles(keys.TENANT_RECORD) + "Bc0" * len(keys.TENANT_TEXT)


def slotted(text: str) -> str:
    """Replace the named fields of tenants and of the pool by their indexes.

    Raises:
        ValueError: there is no such field.

    """

    def index(found: re.Match[str]) -> str:
        array, name = found.groups()
        if name not in _SLOTS[array]:
            raise ValueError(f"{found[0]}: the fields are {', '.join(_SLOTS[array])}")
        return f"{array}[{_SLOTS[array][name]}]"

    return _SLOTTED.sub(index, text)


def _lua_list(values: Sequence[str]) -> str:
    return "{ " + ", ".join(f"'{value}'" for value in values) + " }"


def _lua_bytes(data: bytes) -> str:
    return "'" + "".join(f"\\{byte:03}" for byte in data) + "'"


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
        f" return {{ {', '.join(_POOL)} }} end"
    )


def _read_tenant() -> str:
    """Return the Lua function from a tenant's record and its limits, or nil, to its array, made at its full size."""
    notes = ", ".join(("id", *_NOTES.values()))
    record = f"struct.unpack('{_TENANT_FORMAT}', raw)"
    names = ", ".join(keys.TENANT_LIMITS)
    none = ", ".join(str(keys.NO_LIMITS[name]) for name in keys.TENANT_LIMITS)
    return (
        "local function read_tenant(id, raw, limits)"
        f" if limits then local {names} = struct.unpack('{doubles(keys.TENANT_LIMITS)}', limits)"
        f" return {{ {names}, {notes}, {record} }} end return {{ {none}, {notes}, {record} }} end"
    )


def _pack_tenant() -> str:
    texts = ", ".join(f"#t.{name}, t.{name}" for name in keys.TENANT_TEXT)
    return (
        f"local function pack_tenant(t) return struct.pack('{_TENANT_FORMAT}',"
        f" {_fields('t', keys.TENANT_RECORD)}, {texts}) end"
    )


def _pack_numbers(name: str, array: str, names: Sequence[str]) -> str:
    return f"local function {name}({array}) return struct.pack('{doubles(names)}', {_fields(array, names)}) end"


def _reader(name: str, fields: Mapping[str, tuple[str, ...]], copy: tuple[str, ...] = ()) -> str:
    """A Lua function from HMGET's reply to a table, in one constructor, so that the table is made at its size."""
    unpacked, entries = [], []
    for i, (field, parts) in enumerate(fields.items(), 1):
        if parts:
            unpacked.append(f"local {', '.join(parts)} = cmsgpack.unpack(raw[{i}] or '')")
            empty = {part: "''" if part in keys.TEXT else "0" for part in parts}
            entries += [f"{part} = {part} or {empty[part]}" for part in parts]
        elif field in keys.TEXT:
            entries.append(f"{field} = raw[{i}] or ''")
        else:
            entries.append(f"{field} = tonumber(raw[{i}]) or 0")
    return f"local function {name}(raw) {' '.join(unpacked)} return {{ {', '.join([*entries, *copy])} }} end"


def _packer(name: str, parts: tuple[str, ...], array: str = "copy") -> str:
    """A Lua function from a table to a packed field."""
    return f"local function {name}({array}) return cmsgpack.pack({_fields(array, parts)}) end"


def _bounds(table: Mapping[str, bounds.Bounds]) -> str:
    return "{ " + ", ".join(f"{field} = {{ {low}, {high} }}" for field, (low, high) in table.items()) + " }"


def _moves() -> str:
    rows = []
    for state, targets in TASK_TRANSITIONS.items():
        inner = ", ".join(f"{target} = true" for target in sorted(targets))
        rows.append(f"{state} = {{ {inner} }}" if inner else f"{state} = {{}}")
    return "{ " + ", ".join(rows) + " }"


@cache
def prelude() -> str:
    """Return the definitions, one a line: keys, records, events, states and limits."""
    new_tenant = {"weight": 1, "ratio": 1000}
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
        f"local NO_SETTINGS = {_lua_bytes(b''.join(pack('' if name in keys.TEXT else 0) for name in keys.POOL_SETTINGS))}",
        f"local NO_STATE = {_lua_bytes(pack_numbers([0] * len(keys.POOL_STATE)))}",
        f"local NO_LIMITS = {_lua_bytes(pack_numbers([keys.NO_LIMITS[name] for name in keys.TENANT_LIMITS]))}",
        f"local NEW_TENANT = "
        + _lua_bytes(
            pack_numbers([new_tenant.get(name, 0) for name in keys.TENANT_RECORD]) + bytes(len(keys.TENANT_TEXT))
        ),
        _read_pool(),
        _pack_numbers("pack_pool_state", "pool", keys.POOL_STATE),
        _packer("pack_pool_settings", keys.POOL_SETTINGS, "pool"),
        "local function is_limited(raw) return struct.unpack('<d', raw) == 1 end",
        _read_tenant(),
        _pack_tenant(),
        _pack_numbers("pack_limits", "t", keys.TENANT_LIMITS),
        _reader(
            "read_task",
            {field: keys.TASK_HASH[field] for field in _MOVE_FIELDS},
            ("tenant = ''", "id = ''", "key = ''"),
        ),
        f"local START_FIELDS = {_lua_list((*_START_FIELDS, 'payload'))}",
        _reader("read_start", {field: keys.TASK_HASH[field] for field in _START_FIELDS}),
        _packer("pack_facts", keys.TASK_FACTS),
        _packer("pack_counts", keys.TASK_COUNTS),
        f"local MOVE_FIELDS = {_lua_list(_MOVE_FIELDS)}",
        f"local TASK_MOVES = {_moves()}",
        f"local VIEW_FIELDS = {_lua_list(VIEW_FIELDS)}",
        f"local WORKER_FIELDS = {_lua_list(keys.WORKER_FIELDS)}",
        f"local PRIORITY_STEP = {PRIORITY_STEP}",
        f"local MAX_COST = {MAX_COST}",
        f"local MAX_SERVED = {MAX_SERVED}",
        f"local MAX_VIRTUAL_SERVICE = {MAX_VIRTUAL_SERVICE}",
        f"local BELL_TTL = {keys.BELL_TTL_MS}",
        f"local VISIT_LIMIT = {VISIT_LIMIT}",
        f"local TIMER_LIMIT = {TIMER_LIMIT}",
        f"local RECOVERY_LIMIT = {RECOVERY_LIMIT}",
        f"local WINDOW_TRIM = {WINDOW_TRIM}",
        f"local POOL_OWNER = '{keys.POOL_OWNER}'",
        f"local WINDOW_BITS = {{ {', '.join(f'{kind} = {bit}' for kind, bit in keys.WINDOW_BITS.items())} }}",
        f"local POOL_BITS = {keys.POOL_BITS}",
        "local rows = {}",
        *lua_writers(),
    ]
    return slotted("\n".join(lines)) + "\n"
