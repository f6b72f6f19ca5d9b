"""Lua scripts as package resources: a generated prelude, the includes that a command names, the command itself.

The prelude carries what Python also knows (keys, fields, states, limits), so that nothing is written twice. The fields
of a request are named in `fairlane.store.requests`: the loader replaces `request.<field>` and `item.<field>` by their
indexes, as it does for the fields of tenants and of the pool, and `event('<kind>', ...)` by the writer of that kind.
"""

import hashlib
import re
from collections.abc import Collection, Sequence
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
_VARIABLES: Final = re.compile(r"^local (\w+(?:, \w+)*)", re.MULTILINE)
_UNSET: Final = re.compile(r"^local (\w+(?:, \w+)*)$", re.MULTILINE)
_DECLARATION: Final = re.compile(r"^local (?P<function>function )?(?P<names>\w+(?:, \w+)*)", re.MULTILINE)
_PER_CALL: Final = re.compile(r"local (?:prefix|\w+_key|task_prefix|rows) = ")
"""The definitions of the prelude that depend on the call."""
_LUA: Final = files("fairlane.store") / "lua"


@cache
def _file(path: str) -> tuple[list[str], str]:
    """Return the names of a file's includes, and its text as the server gets it, except the request's fields."""
    text = (_LUA / path).read_text(encoding="utf-8")
    return _INCLUDE.findall(text), _EVENT.sub(r"event_\1(", slotted(_COMMENT.sub("", text)))


def _expand(name: str, path: str, seen: dict[str, str]) -> None:
    """Add a file after its includes, each once."""
    includes, text = _file(path)
    seen[name] = ""
    for include in includes:
        if include not in seen:
            _expand(include, f"includes/{include}.lua", seen)
    del seen[name]
    seen[name] = text


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


def _settled(text: str, command: str, *, as_script: bool) -> str:
    """Put in what a text is: the command's name, and whether it is a script."""
    return text.replace("COMMAND", f"'{command}'").replace("AS_SCRIPT", str(as_script).lower())


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


def _parts(command: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the definitions that a command needs, and its files in order: the name and the text of each."""
    seen: dict[str, str] = {}
    _expand("main", f"{command}.lua", seen)
    text = "".join(f"\n--file {name}\n{part}" for name, part in seen.items())
    text = _indexed(command, _without_uncalled(text))
    _, *found = re.split(r"^--file (\w+)$", text, flags=re.MULTILINE)
    return _used(prelude(), text), tuple(zip(found[::2], found[1::2], strict=True))


def _variables(text: str) -> list[str]:
    return [name for names in _VARIABLES.findall(_FUNCTION.sub("", text)) for name in names.split(", ")]


def _shared(parts: Sequence[tuple[str, str]]) -> list[str]:
    """Return the names that files use of each other. The others are of their file's block: Lua has 200 locals.

    Raises:
        ValueError: two files share a function or variable of one name.

    """
    words = [set(_WORD.findall(text)) for _, text in parts]
    names = [
        name
        for at, (_, text) in enumerate(parts)
        for name in (*(found[1] for found in _FUNCTION.finditer(text)), *_variables(text))
        if any(name in other for index, other in enumerate(words) if index != at)
    ]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{parts[-1][0]}: two files have a function or variable of the name {', '.join(twice)}")
    return names


def _assigning(text: str, declared: Collection[str]) -> str:
    """Let a file assign the functions and variables that are declared already."""

    def assign(found: re.Match[str]) -> str:
        names = found["names"].split(", ")
        return found[0] if not set(names) <= set(declared) else f"{found['function'] or ''}{found['names']}"

    return _DECLARATION.sub(assign, _UNSET.sub(r"local \1 = nil", text))


def _declared(names: Collection[str]) -> str:
    return "".join(f"local {name}\n" for name in names)


def _block(text: str) -> str:
    return f"do\n{_without_blanks(text)}end\n"


@cache
def source(command: str) -> str:
    """Return a command as one script, which the server runs from its beginning at every call."""
    definitions, parts = _parts(command)
    shared = _shared(parts)
    *includes, (_, main) = parts
    whole = (
        definitions,
        _declared(shared),
        *(_block(_assigning(text, shared)) for _, text in includes),
        _without_blanks(main),
    )
    return _settled("".join(whole), command, as_script=True)


@cache
def digest(command: str) -> str:
    """Return the SHA-1 by which the server knows a command's script."""
    return hashlib.sha1(source(command).encode(), usedforsecurity=False).hexdigest()


@cache
def function(command: str) -> str:
    """Return the name of a command's function."""
    return f"fairlane_{digest(command)}"


@cache
def library(command: str) -> str:
    """Return a command as a library: the server makes the functions once, and a call only runs the statements.

    Each file's statements become a function, and its variables are the library's, so that each call sets all of them. A
    full server refuses a command that may add work before it begins.

    Raises:
        ValueError: two files have a variable of one name.

    """
    definitions, parts = _parts(command)
    keys = "\n".join(line for line in definitions.splitlines() if _PER_CALL.match(line))
    constants = "\n".join(line for line in definitions.splitlines() if not _PER_CALL.match(line))
    shared = ["KEYS", "ARGV", *_variables(keys), *_shared(parts)]
    blocks, calls = [], []
    for name, part in (("keys", keys), *parts):
        own = [each for each in _variables(part) if each not in shared]
        functions = "".join(found[0] for found in _FUNCTION.finditer(part))
        statements = _assigning(_FUNCTION.sub("", part), (*shared, *own))
        block = _declared(own) + _assigning(functions, shared)
        if statements.strip():
            block += f"function begins.{name}()\n{statements}end\n"
            calls.append(f"begins.{name}()")
        blocks.append(_block(block))
    grows = "commit_growing()" in parts[-1][1]
    flags = "" if grows else ", flags = { 'allow-oom' }"
    *first, last = calls
    whole = "".join(
        (
            _declared(shared),
            f"{constants}\nlocal begins = {{}}\n",
            *blocks,
            f"redis.register_function{{ function_name = '{function(command)}'{flags},\n",
            "callback = function(keys, argv)\nKEYS, ARGV = keys, argv\n",
            *(f"{call}\n" for call in first),
            f"return {last}\nend }}\n",
        )
    )
    return f"#!lua name={function(command)}\n{_settled(whole, command, as_script=False)}"


@cache
def command_of(sha: str) -> str:
    """Return the command whose script has this digest."""
    return next(command for command in COMMANDS if digest(command) == sha)
