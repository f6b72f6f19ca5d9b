"""Overwrites the packed fields of stored hashes."""

from collections.abc import Mapping, Sequence

from fairlane.store.codec import pack, parts
from fairlane.store.keys import POOL_HASH, TASK_HASH, TENANT_HASH
from fairlane.store.store import Store
from tests.support.store_raw import command

HASHES: Mapping[str, Mapping[str, Sequence[str]]] = {"pool": POOL_HASH, "tenant": TENANT_HASH, "task": TASK_HASH}


async def poke(store: Store, *key: str, **changes: object) -> None:
    """Overwrite parts of a pool's, tenant's or task's hash, each in the field that holds it."""
    left = dict(changes)
    name = store.keys.key(*key)
    for field, names in HASHES[key[0]].items():
        if field in left and not names:
            await command(store, "HSET", name, field, str(left.pop(field)))
        elif left.keys() & set(names):
            values = parts(await command(store, "HGET", name, field), names)
            values.update({part: left.pop(part) for part in names if part in left})  # type: ignore[misc]
            await command(store, "HSET", name, field, b"".join(pack(values[part]) for part in names))
    assert not left, left
