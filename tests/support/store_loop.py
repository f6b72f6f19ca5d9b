"""The loop of tests that call the store: a conftest that imports the function runs its tests on uvloop."""

import asyncio
from collections.abc import Callable

import uvloop


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """The loop on which Fairlane's own processes call the store."""
    return {"uvloop": uvloop.new_event_loop}
