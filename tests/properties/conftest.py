"""Fixtures of property tests: one event loop that outlives an example, and a seed."""

import asyncio
import itertools
import os
from collections.abc import AsyncIterator, Callable, Iterator

import pytest
import uvloop

from fairlane.store.connection import Endpoint
from tests.support.share_pools import Pool, ReferencePool, StorePool
from tests.support.store_loop import pytest_asyncio_loop_factories  # noqa: F401 - a hook

SEED = int(os.environ.get("FAIRLANE_TEST_SEED", "1"))
"""Change it to try other random runs; every failure names its seed."""

_names = itertools.count(1)


@pytest.fixture(scope="session")
def seed() -> int:
    """The seed of random runs."""
    return SEED


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    """One event loop for all examples of a property."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        yield runner


@pytest.fixture(scope="session")
def fresh_name() -> Callable[[], str]:
    """Names that no other example uses."""
    return lambda: f"property-{next(_names)}"


@pytest.fixture(params=["reference", "store"])
async def pool(request: pytest.FixtureRequest, endpoint: Endpoint, name: str) -> AsyncIterator[Pool]:
    """A pool without tenants: the reference scheduler, and the same on a real store."""
    if request.param == "reference":
        yield ReferencePool()
        return
    pool = StorePool(endpoint, name)
    yield pool
    await pool.world.store.erase()
    await pool.world.store.close()
