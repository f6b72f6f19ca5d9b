"""The keys of one scheduler: counted, and removed when it ends. With ``--redis`` the server belongs to others, too."""

import re
from collections.abc import AsyncIterator

from fairlane.store.store import Store

_PAGE = 1_000


async def keys_of(store: Store) -> AsyncIterator[list[bytes]]:
    """Yield the keys of the store's scheduler, page by page; a key that moves meanwhile may come twice."""
    pattern = re.sub(r"([*?\[\]\\])", r"\\\1", store.keys.prefix) + "*"
    cursor = b"0"
    while True:
        cursor, page = await store.command("SCAN", cursor, "MATCH", pattern, "COUNT", _PAGE)
        if page:
            yield page
        if int(cursor) == 0:
            return


async def count_keys(store: Store) -> int:
    """Count the keys of the store's scheduler, without its bells.

    A bell is one element with a TTL, at most one for each sleeper; whether it has been heard yet is chance.
    """
    bells = store.keys.bell("").encode()
    return len({key async for page in keys_of(store) for key in page if not key.startswith(bells)})


async def remove_keys(store: Store) -> None:
    """Remove every key of the store's scheduler. Nothing may still use it."""
    async for page in keys_of(store):
        await store.command("UNLINK", *page)
