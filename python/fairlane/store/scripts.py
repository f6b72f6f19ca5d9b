"""Lua scripts as package resources: a generated prelude, the includes a command asks for, the command itself.

The prelude carries what Python also knows (keys, fields, states, limits), so that nothing is written twice.
"""

import hashlib
import re
from functools import cache
from importlib.resources import files
from typing import Final

from fairlane.domain.limits import MIN_DEFICIT, PRIORITY_STEP
from fairlane.domain.task import TASK_TRANSITIONS
from fairlane.store import keys

VISIT_LIMIT: Final = 256
TIMER_LIMIT: Final = 256
RECOVERY_LIMIT: Final = 100

COMMANDS: Final = (
    "put_pool", "put_tenants", "remove_tenant", "submit", "cancel", "collect", "dispatch", "start", "settle",
    "throttle", "release", "register", "heartbeat", "drain", "evict", "reap", "adapt", "set_capacity", "pause",
    "admit", "snapshot",
)  # fmt: skip

VIEW_FIELDS: Final = (
    "state", "cost", "priority", "fence", "failures", "recoveries", "throttles", "submitted", "started", "ended",
    "actual", "result", "code", "error",
)  # fmt: skip

_TEXT_FIELDS: Final = frozenset({"state", "worker", "client", "unknown", "policy", "throttle_scope", "place"})
_TENANT_COPY: Final = (
    "id = ''",
    "key = ''",
    "dirty = false",
    "rank = false",
    "left = false",
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
"""What a call keeps of a tenant besides its fields; named here so that the table is made at its size."""
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


def _reader(name: str, fields: tuple[str, ...], text: frozenset[str], extra: tuple[str, ...]) -> str:
    """A Lua function from HMGET's reply to a table, in one constructor, so that the table is made at its size."""
    entries = [
        f"{field} = raw[{i}] or ''" if field in text else f"{field} = tonumber(raw[{i}]) or 0"
        for i, field in enumerate(fields, 1)
    ]
    return f"local function {name}(raw) return {{ {', '.join([*entries, *extra])} }} end"


def _moves() -> str:
    rows = []
    for state, targets in TASK_TRANSITIONS.items():
        inner = ", ".join(f"{target} = true" for target in sorted(targets))
        rows.append(f"{state} = {{ {inner} }}" if inner else f"{state} = {{}}")
    return "{ " + ", ".join(rows) + " }"


@cache
def prelude() -> str:
    """Return the Lua that comes before every script: keys, fields, states and limits."""
    pool_fields = keys.POOL_SETTINGS + keys.POOL_STATE
    tenant_fields = keys.TENANT_SETTINGS + keys.TENANT_STATE
    lines = [
        "local prefix = string.sub(KEYS[1], 1, -5)",
        *(line for line in _key_functions()),
        "local task_prefix = prefix .. 'task:'",
        f"local POOL_FIELDS = {_lua_list(pool_fields)}",
        f"local POOL_STATE = {_lua_list(keys.POOL_STATE)}",
        _reader("read_pool", pool_fields, _TEXT_FIELDS, ()),
        f"local TENANT_FIELDS = {_lua_list(tenant_fields)}",
        _reader("read_tenant", tenant_fields, _TEXT_FIELDS, _TENANT_COPY),
        f"local TASK_FIELDS = {_lua_list(keys.TASK_FIELDS)}",
        _reader("read_task", keys.TASK_FIELDS, _TEXT_FIELDS, ("tenant = ''", "id = ''", "key = ''")),
        f"local TASK_MOVES = {_moves()}",
        f"local VIEW_FIELDS = {_lua_list(VIEW_FIELDS)}",
        f"local WORKER_FIELDS = {_lua_list(keys.WORKER_FIELDS)}",
        f"local PRIORITY_STEP = {PRIORITY_STEP}",
        f"local MIN_DEFICIT = {MIN_DEFICIT}",
        f"local BELL_TTL = {keys.BELL_TTL_MS}",
        f"local VISIT_LIMIT = {VISIT_LIMIT}",
        f"local TIMER_LIMIT = {TIMER_LIMIT}",
        f"local RECOVERY_LIMIT = {RECOVERY_LIMIT}",
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


def _without_comments(text: str) -> str:
    kept = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in kept if line and not line.startswith("--")) + "\n"


@cache
def source(command: str) -> str:
    """Return the whole script of a command, as the server gets it."""
    text = (_LUA / f"{command}.lua").read_text(encoding="utf-8")
    body = _expand(text, set())
    return _without_comments(prelude() + f"local COMMAND = '{command}'\n" + body)


@cache
def digest(command: str) -> str:
    """Return the SHA-1 by which the server knows a command's script."""
    return hashlib.sha1(source(command).encode(), usedforsecurity=False).hexdigest()


@cache
def command_of(sha: str) -> str:
    """Return the command whose script has this digest."""
    return next(command for command in COMMANDS if digest(command) == sha)
