"""A world whose state a test may corrupt."""

from collections.abc import AsyncIterator

import pytest

from fairlane.audit import check_invariants
from fairlane.domain.attempt import Outcome
from fairlane.store.connection import Endpoint
from tests.support.store_loop import pytest_asyncio_loop_factories  # noqa: F401 - a hook
from tests.support.store_world import World, task, tasks


@pytest.fixture
async def busy(endpoint: Endpoint, name: str) -> AsyncIterator[World]:
    """Tasks in every state and place. The state is sound until the test corrupts it.

    Tenant ``a`` has t00000 completed, t00001 waiting, t00002 active and being cancelled, t00003 active, t00004
    enqueued, and is parked with t00005 and t00006 (with a deadline) queued. Tenant ``b`` is in the calendar with
    queue u1 (70) and u2 (30). Tenant ``idle`` has nothing.
    """
    world = World(endpoint, name)
    async with world.store as store:
        await world.ready(tenant={"slots": 5}, lease_ms=3_600_000)
        await world.tenant("b", weight=2)
        await world.tenant("idle")
        started = await world.active(*tasks(4))
        await world.submit(*tasks(2, first=4), task("t00006", deadline_ms=60_000))
        await world.settle(started[0])
        await world.settle(started[1], Outcome.FAILED, backoff_ms=5000)
        await world.store.cancel([started[2].ref])
        await world.tenant("a", slots=3)
        await world.dispatch(64)
        await world.submit(task("u1", 70, tenant="b"), task("u2", 30, tenant="b"))
        assert await check_invariants(store) == []
        yield world
        await store.erase()
