"""Raw access to a store's server, for tests that read stored keys or corrupt them."""

from collections.abc import Sequence
from typing import Any

from fairlane.store.connection import Command
from fairlane.store.store import Store


async def command(store: Store, *words: str | bytes | int) -> Any:
    """Run one server command and return its reply."""
    return await store._command(*words)


async def commands(store: Store, wanted: Sequence[Command]) -> list[Any]:
    """Run server commands in one round trip and return their replies."""
    return await store._run(wanted)
