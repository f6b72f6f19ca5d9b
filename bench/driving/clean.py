"""Removes what a scheduler of the benchmark leaves on the server: with ``--redis`` the server is somebody else's."""

from fairlane.store.store import Store


async def count_keys(store: Store) -> int:
    """Count the keys of the store's scheduler, without its bells.

    A bell is one element with a TTL, at most one for each sleeper; whether it has been heard yet is chance.
    """
    counts = await store.key_counts()
    return counts.total() - counts["bell"]


async def remove(store: Store) -> None:
    """Remove every key of the store's scheduler. Nothing may still use it."""
    await store.erase()
