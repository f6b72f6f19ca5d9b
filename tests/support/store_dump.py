"""Everything that a scheduler has stored, to compare before and after."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fairlane.store.codec import parts
from fairlane.store.keys import POOL_STATE
from fairlane.store.store import Store
from tests.support.store_raw import command

Dump = dict[str, object]


async def dump(store: Store, *, clock: bool = False) -> Dump:
    """Read every key in full.

    Without ``clock`` the time of the last script, which the pool remembers, is left out: a heartbeat or a dispatch
    that did nothing else may change it.
    """
    found: Dump = {}
    cursor: bytes | int = 0
    while True:
        cursor, page = await command(store, "SCAN", cursor, "MATCH", f"{store.keys.prefix}*", "COUNT", 1000)
        for key in page:
            found[key.decode()] = await _read(store, key)
        if int(cursor) == 0:
            break
    if isinstance(pool := found.get(store.keys.pool), dict):
        pool.update(parts(pool.pop(b"state"), POOL_STATE))
        for field in () if clock else ("now", "grace_until"):
            del pool[field]
    return found


async def _read(store: Store, key: bytes) -> object:
    kind = (await command(store, "TYPE", key)).decode()
    if kind == "hash":
        flat = await command(store, "HGETALL", key)
        return dict(zip(flat[::2], flat[1::2], strict=True))
    if kind == "zset":
        flat = await command(store, "ZRANGE", key, 0, -1, "WITHSCORES")
        return sorted(zip(flat[::2], flat[1::2], strict=True))
    if kind == "stream":
        return await command(store, "XRANGE", key, "-", "+")
    if kind == "list":
        return await command(store, "LRANGE", key, 0, -1)
    return await command(store, "GET", key)


@asynccontextmanager
async def unchanged(store: Store, *, clock: bool = False) -> AsyncIterator[None]:
    """Fail unless everything stored is as before when the block ends."""
    before = await dump(store, clock=clock)
    yield
    after = await dump(store, clock=clock)
    different = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    assert not different, {key: (before.get(key), after.get(key)) for key in different}
