"""Fixtures every layer shares: one private server per session, one fresh scheduler name per test."""

import itertools
from collections.abc import AsyncIterator, Iterator

import pytest

from fairlane.embedded.guard import Guard
from fairlane.embedded.server import EmbeddedServer
from fairlane.store.connection import Endpoint
from fairlane.store.store import Store

_names = itertools.count(1)


@pytest.fixture(scope="session")
def guard() -> Iterator[Guard]:
    """Stops what the tests started if they are killed."""
    guard = Guard.start()
    yield guard
    guard.close()


@pytest.fixture(scope="session")
def server(guard: Guard) -> Iterator[EmbeddedServer]:
    """A private server whose data are thrown away."""
    with EmbeddedServer(guard=guard) as server:
        yield server


@pytest.fixture(scope="session")
def endpoint(server: EmbeddedServer) -> Endpoint:
    """Where the session's server is."""
    return Endpoint(server.address.url)


@pytest.fixture
def name() -> str:
    """A scheduler name no other test uses."""
    return f"test-{next(_names)}"


@pytest.fixture
async def store(endpoint: Endpoint, name: str) -> AsyncIterator[Store]:
    """A store under a fresh name; the test puts the pool. Its keys are deleted afterwards."""
    async with Store(endpoint, name) as store:
        yield store
        keys = await store.command("KEYS", f"{store.keys.prefix}*")
        if keys:
            await store.command("DEL", *keys)
