"""Lua scripts as package resources: a generated prelude, the includes that a command names, the command itself.

The prelude carries what Python also knows (keys, fields, states, limits), so that nothing is written twice. The fields
of a request are named in `fairlane.store.requests`: the loader replaces `request.<field>` and `item.<field>` by their
indexes.
"""

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

from fairlane.domain.limits import MAX_COST, MAX_SERVED, MAX_VIRTUAL_SERVICE, PRIORITY_STEP
from fairlane.domain.task import TASK_TRANSITIONS
from fairlane.store import bounds, keys
from fairlane.store.requests import REQUESTS

VISIT_LIMIT: Final = 256
TIMER_LIMIT: Final = 256
RECOVERY_LIMIT: Final = 100
WINDOW_TRIM: Final = 1000

COMMANDS: Final = tuple(REQUESTS)

VIEW_FIELDS: Final = ("state", "facts", "attempt", "counts", "started", "end", "result")
_MOVE_FIELDS: Final = ("state", "facts", "attempt", "counts", "cancel", "ready_at")
"""The fields that scripts read to move a task."""
_START_FIELDS: Final = ("state", "facts", "counts", "attempt")

_TENANT_COPY: Final = (
    "id = ''",
    "key = ''",
    "dirty = false",
    "rolled = false",
    "rank = false",
    "entry = false",
    "unparked = false",
    "stored = 0",
    "head = false",
    "page = false",
    "page_from = 0",
    "page_size = 0",
    "page_at = 1",
    "gone = false",
    "added = false",
)
"""A call's own notes on a tenant, beside the stored fields; named here so that Lua makes the table at its full size."""
_FIELD: Final = re.compile(r"\b(request|item)\.(\w+)")
_COMMENT: Final = re.compile(r"--.*$", re.MULTILINE)
_FUNCTION: Final = re.compile(r"^local function (\w+)\(.*?^end$\n", re.MULTILINE | re.DOTALL)
_WORD: Final = re.compile(r"\w+")
_INCLUDE: Final = re.compile(r"^--- @include (\w+)$", re.MULTILINE)
_LUA: Final = files("fairlane.store") / "lua"


def _lua_list(values: tuple[str, ...]) -> str:
    return "{ " + ", ".join(f"'{value}'" for value in values) + " }"


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


def _packer(name: str, parts: tuple[str, ...]) -> str:
    """A Lua function from a table to a packed field."""
    return f"local function {name}(copy) return cmsgpack.pack({', '.join(f'copy.{part}' for part in parts)}) end"


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
    """Return the Lua that comes before every script: keys, fields, states and limits."""
    lines = [
        "local prefix = string.sub(KEYS[1], 1, -5)",
        *_key_functions(),
        "local task_prefix = prefix .. 'task:'",
        f"local POOL_FIELDS = {_lua_list(keys.POOL_SETTINGS + keys.POOL_STATE)}",
        f"local TENANT_SETTINGS = {_lua_list(keys.TENANT_SETTINGS)}",
        f"local TENANT_BOUNDS = {_bounds(bounds.TENANT_BOUNDS)}",
        f"local POOL_BOUNDS = {_bounds(bounds.POOL_BOUNDS)}",
        f"local TENANT_FIELDS = {_lua_list(keys.TENANT_SETTINGS + keys.TENANT_STATE)}",
        _reader("read_pool", keys.POOL_HASH),
        _packer("pack_pool", keys.POOL_STATE),
        _packer("pack_pool_settings", keys.POOL_SETTINGS),
        _reader("read_tenant", keys.TENANT_HASH, _TENANT_COPY),
        _packer("pack_tenant", keys.TENANT_STATE),
        _packer("pack_limits", keys.TENANT_SETTINGS),
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
        f"local SCHEMA_VERSION = {keys.SCHEMA_VERSION}",
        f"local BELL_TTL = {keys.BELL_TTL_MS}",
        f"local VISIT_LIMIT = {VISIT_LIMIT}",
        f"local TIMER_LIMIT = {TIMER_LIMIT}",
        f"local RECOVERY_LIMIT = {RECOVERY_LIMIT}",
        f"local WINDOW_TRIM = {WINDOW_TRIM}",
        f"local POOL_OWNER = '{keys.POOL_OWNER}'",
        f"local WINDOW_BITS = {{ {', '.join(f'{kind} = {bit}' for kind, bit in keys.WINDOW_BITS.items())} }}",
        f"local POOL_BITS = {keys.POOL_BITS}",
    ]
    return "\n".join(lines) + "\n"


def _expand(text: str, seen: set[str]) -> str:
    """Return the text with its includes before it, each once."""
    parts = []
    for name in _INCLUDE.findall(text):
        if name not in seen:
            seen.add(name)
            parts.append(_expand((_LUA / "includes" / f"{name}.lua").read_text(encoding="utf-8"), seen))
    return "\n".join([*parts, _INCLUDE.sub("", text)])


def _without_uncalled(text: str) -> str:
    """Remove the functions that the script never calls: each would cost the server a closure at every run."""
    words = {found[1]: set(_WORD.findall(found[0])) for found in _FUNCTION.finditer(text)}
    called: set[str] = set()
    new = words.keys() & set(_WORD.findall(_FUNCTION.sub("", text)))
    while new:
        called |= new
        new = words.keys() & set().union(*(words[name] for name in new)) - called
    return _FUNCTION.sub(lambda found: found[0] if found[1] in called else "", text)


def _without_blanks(text: str) -> str:
    kept = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in kept if line) + "\n"


def _indexed(command: str, text: str) -> str:
    """Replace the named fields of the request by their indexes.

    Raises:
        ValueError: the command's request has no such field.

    """
    request = REQUESTS[command]
    fields = {"request": request.fields, "item": request.items.fields if request.items else ()}

    def index(found: re.Match[str]) -> str:
        array, name = found.groups()
        if name not in fields[array]:
            known = ", ".join(fields[array]) or "none"
            raise ValueError(f"{command}.lua reads {found[0]}; the fields in fairlane.store.requests are: {known}")
        return f"{array}[{fields[array].index(name) + 1}]"

    return _FIELD.sub(index, text)


def _used(definitions: str, body: str) -> str:
    """Return the definitions, one a line, that the body needs, since the server runs each of them at every call."""
    kept: list[str] = []
    words = set(_WORD.findall(body))
    for line in reversed(definitions.splitlines()):
        name = re.match(r"local (?:function )?(\w+)", line)
        if name and name[1] in words:
            kept.append(line)
            words.update(_WORD.findall(line))
    return "".join(f"{line}\n" for line in reversed(kept))


@cache
def source(command: str) -> str:
    """Return the whole script of a command, as the server gets it."""
    text = (_LUA / f"{command}.lua").read_text(encoding="utf-8")
    text = _without_uncalled(_COMMENT.sub("", _expand(text, set())))
    body = _indexed(command, _without_blanks(f"local COMMAND = '{command}'\n" + text))
    return _used(prelude(), body) + body


@cache
def digest(command: str) -> str:
    """Return the SHA-1 by which the server knows a command's script."""
    return hashlib.sha1(source(command).encode(), usedforsecurity=False).hexdigest()


@cache
def command_of(sha: str) -> str:
    """Return the command whose script has this digest."""
    return next(command for command in COMMANDS if digest(command) == sha)
