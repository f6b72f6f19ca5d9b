"""Raw access to a store's server, for tests that look at stored keys or spoil them."""

from typing import Any

from fairlane.store.store import Store


async def command(store: Store, *words: str | bytes | int) -> Any:
    """Run one server command and return its reply."""
    return await store._command(*words)
