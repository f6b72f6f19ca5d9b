"""Compiles every script with Lua 5.1 and looks for globals that the server does not have.

    python -m tests.support.lua_lint

Reads the compiler's own bytecode: each access to a global is one instruction there, so that nothing hides in
strings, comments or unusual layout, and every local of the prelude and the includes is known to the compiler.
"""

import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from lupa import lua51

from fairlane.store import scripts

ALLOWED: Final = frozenset(
    {
        "KEYS", "ARGV", "redis", "cmsgpack", "struct",
        "error", "ipairs", "math", "next", "pairs", "select", "string", "table", "tonumber", "tostring", "type",
        "unpack",
    }
)  # fmt: skip
"""The server's globals that scripts may use. Not cjson (it rounds integers), not bit (some servers lack it)."""
MEMBERS: Final = {
    "redis": frozenset({"call", "error_reply"}),
    "cmsgpack": frozenset({"pack", "unpack"}),
    "struct": frozenset({"pack", "unpack"}),
    "math": frozenset({"abs", "ceil", "floor", "max", "min"}),
    "string": frozenset({"byte", "find", "format", "match", "sub"}),
    "table": frozenset({"concat", "insert", "remove", "sort"}),
}
_GETGLOBAL, _GETTABLE, _SETGLOBAL = 5, 6, 7
_COMPILER: Final = b"""return function(source)
  local compiled, problem = loadstring(source, '=script')
  return compiled and string.dump(compiled), problem
end"""
_HEADER: Final = b"\x1bLuaQ\x00\x01"


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of a script, and its line in the assembled script."""

    script: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.script}:{self.line}: {self.text}"


def lint(name: str, source: str) -> list[Problem]:
    """Return the problems of one assembled script."""
    runtime = lua51.LuaRuntime(encoding=None, register_eval=False)
    code, error = runtime.execute(_COMPILER)(source.encode())
    if code is None:
        _, line, text = error.decode().split(":", 2)
        return [Problem(name, int(line), text.strip())]
    found = []
    for line, verb, names in _accesses(code):
        if problem := _judge(verb, names):
            shown = source.splitlines()[line - 1].strip()
            found.append(Problem(name, line, f"{problem} in `{shown[:100]}`"))
    return found


def _judge(verb: str, names: tuple[str, ...]) -> str | None:
    first = names[0]
    if verb == "set":
        return f"sets the global {first}"
    if first not in ALLOWED:
        return f"unknown global {first}"
    if len(names) > 1 and first in MEMBERS and names[1] not in MEMBERS[first]:
        return f"{first}.{names[1]} is not a function that scripts may use"
    return None


class _Reader:
    """Reads the bytecode of this machine's Lua 5.1; its header holds the sizes."""

    def __init__(self, code: bytes) -> None:
        assert code.startswith(_HEADER), code[:12]
        self._integer, self._size, instruction, self._number = code[7], code[8], code[9], code[10]
        assert instruction == 4
        self._code = code
        self._at = 12

    def take(self, count: int) -> bytes:
        data = self._code[self._at : self._at + count]
        self._at += count
        return data

    def integer(self) -> int:
        return int.from_bytes(self.take(self._integer), sys.byteorder)

    def string(self) -> str:
        length = int.from_bytes(self.take(self._size), sys.byteorder)
        return self.take(length)[:-1].decode("latin-1")

    def constant(self) -> str | None:
        """Return a string constant; others do not matter here."""
        kind = self.take(1)[0]
        if kind == 4:
            return self.string()
        self.take({0: 0, 1: 1, 3: self._number}[kind])
        return None


def _accesses(code: bytes) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Yield line, get or set, and the name of each global touched, with the member read from it right away."""
    yield from _function(_Reader(code))


def _function(reader: _Reader) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    reader.string()
    reader.integer()
    reader.integer()
    reader.take(4)
    instructions = struct.unpack(f"={(count := reader.integer())}I", reader.take(4 * count))
    constants = [reader.constant() for _ in range(reader.integer())]
    inner = [access for _ in range(reader.integer()) for access in list(_function(reader))]
    lines = [reader.integer() for _ in range(reader.integer())]
    for _ in range(reader.integer()):
        reader.string()
        reader.integer()
        reader.integer()
    for _ in range(reader.integer()):
        reader.string()
    for at, instruction in enumerate(instructions):
        code = instruction & 0x3F
        if code in {_GETGLOBAL, _SETGLOBAL}:
            names = [constants[instruction >> 14] or "?"]
            following = instructions[at + 1] if at + 1 < len(instructions) else 0
            if code == _GETGLOBAL and following & 0x3F == _GETTABLE and following >> 23 == instruction >> 6 & 0xFF:
                key = following >> 14 & 0x1FF
                names += [constants[key & 0xFF] or "?"] if key & 0x100 else []
            yield lines[at], "get" if code == _GETGLOBAL else "set", tuple(names)
    yield from inner


def main() -> int:
    """Lint every command's script; print the problems."""
    problems = [problem for command in scripts.COMMANDS for problem in lint(command, scripts.source(command))]
    for problem in problems:
        print(problem)
    print(f"{len(scripts.COMMANDS)} scripts, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
