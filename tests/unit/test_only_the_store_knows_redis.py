"""Outside `fairlane.store` no code sends a Redis command or builds a key."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ("audit", "cli", "control", "lifecycle", "runtime", "workers", "providers")
FILES = sorted(path for layer in LAYERS for path in (ROOT / "python" / "fairlane" / layer).rglob("*.py"))
BENCH = sorted(path for path in (ROOT / "bench").rglob("*.py") if not {"naive", "provider.py"} & set(path.parts))
"""The naive counterparts and the provider's ledger deliberately talk to a server themselves."""
COMMANDS = frozenset(
    {
        "CONFIG", "DEL", "EVAL", "EVALSHA", "EXISTS", "GET", "HGET", "HGETALL", "HLEN",
        "HMGET", "HSET", "INFO", "KEYS", "LLEN", "LPUSH", "LRANGE", "PTTL", "SCAN",
        "SET", "TIME", "TTL", "TYPE", "UNLINK", "XADD", "XDEL", "XLEN", "XRANGE",
        "XREAD", "XREVRANGE", "XTRIM", "ZADD", "ZCARD", "ZRANGE", "ZREM", "ZSCORE",
    }
)  # fmt: skip
PRIVATE = frozenset({"_call", "_command", "_connector", "_raw", "_run", "_script"})
KEYS = frozenset({"key", "pool", "events", "prefix", "pattern", "bell"})


def problems(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Call(args=[ast.Constant(str(word)), *_]) if word in COMMANDS:
                yield f"line {node.lineno}: sends {word}"
            case ast.Attribute(value=ast.Attribute(attr="store" | "_store") | ast.Name(id="store"), attr=name):
                if name in PRIVATE:
                    yield f"line {node.lineno}: store.{name}"
            case ast.Attribute(value=ast.Attribute(attr="keys"), attr=name) if name in KEYS:
                yield f"line {node.lineno}: keys.{name}"
            case _:
                pass


@pytest.mark.parametrize("path", [*FILES, *BENCH], ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_sends_no_command_and_builds_no_key(path: Path) -> None:
    assert list(problems(path.read_text(encoding="utf-8"))) == []


def test_the_search_finds_commands_and_keys() -> None:
    assert list(problems('await store.anything("EXISTS", 1)\nstore._command("x")\nself.store.keys.key("task")')) == [
        "line 1: sends EXISTS",
        "line 2: store._command",
        "line 3: keys.key",
    ]
