"""Shared fixtures: one private server and one Ray per session, and a new scheduler name for each test."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator

import pytest

from fairlane.config import ServerConfig
from fairlane.embedded.guard import Guard
from fairlane.embedded.server import EmbeddedServer
from fairlane.runtime.platform import Platform
from fairlane.store.connection import Endpoint
from fairlane.store.store import Store

_names = itertools.count(1)


@pytest.fixture(scope="session")
def guard() -> Iterator[Guard]:
    """A guard process that stops the servers of the tests if the tests are killed."""
    guard = Guard.start()
    yield guard
    guard.close()


@pytest.fixture(scope="session")
def server(guard: Guard) -> Iterator[EmbeddedServer]:
    """A private server that keeps no data."""
    with EmbeddedServer(guard=guard) as server:
        yield server


@pytest.fixture(scope="session")
def endpoint(server: EmbeddedServer) -> Endpoint:
    """The address of the session's server."""
    return Endpoint(server.address.url)


@pytest.fixture(scope="session")
def platform(server: EmbeddedServer) -> Iterator[Platform]:
    """The session's Ray, on the session's server. Each scheduler on it needs its own name."""
    platform = Platform(ServerConfig(url=server.address.url))
    asyncio.run(platform.start())
    yield platform
    asyncio.run(platform.stop())


@pytest.fixture
def name() -> str:
    """A scheduler name that no other test uses."""
    return f"test-{next(_names)}"


@pytest.fixture
async def store(endpoint: Endpoint, name: str) -> AsyncIterator[Store]:
    """A store with a new name and without a pool: the test puts one. The keys are deleted afterwards."""
    async with Store(endpoint, name) as store:
        yield store
        await store.erase()
