"""Random histories of work, budgets and time against a naive oracle: no budget is overspent and no window exceeded.

The oracle checks every event. The audit runs too, and the store's own ledger is compared with the oracle's.
"""

import random

import pytest

from fairlane.audit import check_invariants
from fairlane.store.connection import Endpoint
from tests.support.ledger_history import TENANTS, History
from tests.support.store_world import START_MS, World

STEPS = 250
RUNS = 10


@pytest.mark.parametrize("run", range(RUNS))
async def test_no_budget_is_overspent_and_no_window_exceeded(
    endpoint: Endpoint, name: str, seed: int, run: int
) -> None:
    print(f"seed {seed}, run {run}")
    world = World(endpoint, name, now=START_MS)
    async with world.store:
        history = History(world, random.Random(seed * 1000 + run))
        await history.begin()
        for number in range(STEPS):
            await history.step()
            if number % 25 == 0:
                assert await check_invariants(world.store) == [], number
        await history.drain()
        await history.follow()
        history.oracle.finish()
        for tenant in TENANTS:
            ledger = await world.ledger(tenant)
            assert (ledger.held, ledger.held_before) == (0, 0)
            history.oracle.expect(tenant, ledger, world.now)
            assert history.by_events.tenants[tenant].limit == ledger.limit
        assert history.by_events.handovers >= 5
        assert await check_invariants(world.store) == []
        assert len(history.oracle.attempts) >= 10
        await world.store.erase()
