"""A world per test. The stored state must be sound when a test ends."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import redis

from fairlane.audit import check_invariants
from fairlane.embedded.server import EmbeddedServer
from fairlane.store.connection import Endpoint
from tests.support.store_loop import pytest_asyncio_loop_factories  # noqa: F401 - a hook
from tests.support.store_proxy import LossyProxy
from tests.support.store_servers import running
from tests.support.store_world import World

SOON_MS = 1_500
"""The time for which calls to a server in trouble are retried."""


@pytest.fixture
async def world(endpoint: Endpoint, name: str) -> AsyncIterator[World]:
    """A scheduler in virtual time; its keys are checked and deleted afterwards."""
    world = World(endpoint, name)
    async with world.store as store:
        yield world
        assert await check_invariants(store) == []
        await store.erase()


@pytest.fixture
async def proxy(server: EmbeddedServer, tmp_path: Path) -> AsyncIterator[LossyProxy]:
    """A connection to the server that can lose replies."""
    async with LossyProxy(tmp_path / "proxy", server.address.socket) as proxy:
        yield proxy


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The URL of a server that only this test uses."""
    with running(tmp_path) as url:
        yield url


@pytest.fixture
def admin(url: str) -> Iterator[redis.Redis]:
    """An operator's connection to that server."""
    with redis.Redis.from_url(url) as client:
        yield client


@pytest.fixture
async def own(url: str, name: str) -> AsyncIterator[World]:
    """A world on that server, whose calls give up soon."""
    world = World(Endpoint(url, call_timeout_ms=SOON_MS), name)
    async with world.store:
        yield world
