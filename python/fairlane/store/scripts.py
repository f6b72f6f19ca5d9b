"""Lua scripts as package resources: a generated prelude, the includes that a command names, the command itself.

The prelude carries what Python also knows (keys, fields, states, limits), so that nothing is written twice. The fields
of a request are named in `fairlane.store.requests`: the loader replaces `request.<field>` and `item.<field>` by their
indexes, as it does for the fields of tenants and of the pool, and `event('<kind>', ...)` by the writer of that kind.
"""

import hashlib
import re
from functools import cache
from importlib.resources import files
from typing import Final

from fairlane.store.prelude import prelude, slotted
from fairlane.store.requests import REQUESTS

COMMANDS: Final = tuple(REQUESTS)

_FIELD: Final = re.compile(r"\b(request|item)\.(\w+)")
_EVENT: Final = re.compile(r"\bevent\('(\w+)'(?:, )?")
_COMMENT: Final = re.compile(r"--.*$", re.MULTILINE)
_FUNCTION: Final = re.compile(r"^local function (\w+)\(.*?^end$\n", re.MULTILINE | re.DOTALL)
_WORD: Final = re.compile(r"\w+")
_INCLUDE: Final = re.compile(r"^--- @include (\w+)$", re.MULTILINE)
_LUA: Final = files("fairlane.store") / "lua"


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
    text = _EVENT.sub(r"event_\1(", slotted(_COMMENT.sub("", _expand(text, set()))))
    text = _without_uncalled(text)
    body = _indexed(command, _without_blanks(text))
    return f"local COMMAND = '{command}'\n" + _used(prelude(), body) + body


@cache
def digest(command: str) -> str:
    """Return the SHA-1 by which the server knows a command's script."""
    return hashlib.sha1(source(command).encode(), usedforsecurity=False).hexdigest()


@cache
def command_of(sha: str) -> str:
    """Return the command whose script has this digest."""
    return next(command for command in COMMANDS if digest(command) == sha)
