"""Everything that a scheduler has stored, to compare before and after."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from fairlane.store.codec import unpack_numbers
from fairlane.store.connection import Command
from fairlane.store.keys import POOL_STATE
from fairlane.store.store import Store
from tests.support.store_raw import command, commands

Dump = dict[str, object]


async def dump(store: Store, *, clock: bool = False) -> Dump:
    """Read every key in full.

    Without ``clock`` the time of the last script, which the pool remembers, is left out: a heartbeat or a dispatch
    that did nothing else may change it.
    """
    keys: set[bytes] = set()
    cursor = b"0"
    while True:
        cursor, page = await command(store, "SCAN", cursor, "MATCH", f"{store.keys.prefix}*", "COUNT", 1000)
        keys |= set(page)
        if int(cursor) == 0:
            break
    kinds = await commands(store, [("TYPE", key) for key in keys])
    reads: list[Command] = [_READ[kind.decode()](key) for key, kind in zip(keys, kinds, strict=True)]
    found: Dump = {
        key.decode(): _plain(kind, value)
        for key, kind, value in zip(keys, kinds, await commands(store, reads), strict=True)
    }
    if isinstance(pool := found.get(store.keys.pool), dict):
        pool.update(unpack_numbers(pool.pop(b"state"), POOL_STATE))
        for field in () if clock else ("now", "grace_until"):
            del pool[field]
    return found


_READ: dict[str, Callable[[bytes], Command]] = {
    "hash": lambda key: ("HGETALL", key),
    "zset": lambda key: ("ZRANGE", key, 0, -1, "WITHSCORES"),
    "stream": lambda key: ("XRANGE", key, "-", "+"),
    "list": lambda key: ("LRANGE", key, 0, -1),
    "string": lambda key: ("GET", key),
    "none": lambda key: ("GET", key),  # it ran out since the scan
}


def _plain(kind: bytes, value: Any) -> object:
    if kind == b"hash":
        return dict(zip(value[::2], value[1::2], strict=True))
    if kind == b"zset":
        return sorted(zip(value[::2], value[1::2], strict=True))
    return value


@asynccontextmanager
async def unchanged(store: Store, *, clock: bool = False) -> AsyncIterator[None]:
    """Fail unless everything stored is as before when the block ends."""
    before = await dump(store, clock=clock)
    yield
    after = await dump(store, clock=clock)
    different = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    assert not different, {key: (before.get(key), after.get(key)) for key in different}
