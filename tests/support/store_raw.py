"""Raw access to a store's server, for tests that read stored keys or corrupt them."""

from typing import Any

from fairlane.store.store import Store


async def command(store: Store, *words: str | bytes | int) -> Any:
    """Run one server command and return its reply."""
    return await store._command(*words)
