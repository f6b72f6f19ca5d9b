"""Lua decides as the Rust reference does: same placements, same charges, same state after every operation."""

import asyncio
import random
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from fairlane.store.connection import Endpoint
from tests.support import world_operations as ops
from tests.support.world_twin import Twin

SOURCES = st.randoms(use_true_random=False)
SETUPS = st.builds(ops.draw_setup, SOURCES)
OPERATIONS = st.builds(ops.draw_operation, SOURCES)


@settings(
    max_examples=120, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(setup=SETUPS, operations=st.lists(OPERATIONS, min_size=1, max_size=60))
def test_any_operations_have_the_same_effect_in_lua_and_rust(
    runner: asyncio.Runner,
    endpoint: Endpoint,
    fresh_name: Callable[[], str],
    setup: ops.Setup,
    operations: list[ops.Operation],
) -> None:
    async def example() -> None:
        async with Twin(endpoint, fresh_name(), setup) as twin:
            await twin.run(operations)

    runner.run(example())


@pytest.mark.parametrize("quantum", [1, 1000, 1_000_000])
async def test_a_long_random_run_never_differs(endpoint: Endpoint, name: str, seed: int, quantum: int) -> None:
    source = random.Random(f"{seed}/{quantum}")
    setup = ops.Setup(quantum, tuple(ops.draw_limits(source) for _ in range(6)))
    try:
        async with Twin(endpoint, name, setup) as twin:
            await twin.run(ops.draw_phases(source, 3500))
            assert twin.reference.scheduler.pool().epoch > 0, "the run must go through an idle pool"
            assert len(twin.reference.ended) > 100, "the run must end tasks"
    except AssertionError as difference:
        pytest.fail(f"FAIRLANE_TEST_SEED={seed}, quantum {quantum}: {difference}")


async def test_a_call_parks_at_most_256_tenants_and_the_next_call_continues(endpoint: Endpoint, name: str) -> None:
    """300 tenants held to one task each: once each has one, a visit only parks."""
    count = 300
    async with Twin(endpoint, name, ops.Setup(1000, (ops.Limits(slots=1),) * count, count + 1)) as twin:
        for first in range(0, 2 * count, 100):
            await twin.step(ops.Submit(tuple((first + i, 1000, 100) for i in range(100))))
        for _ in range(5):
            await twin.step(ops.Dispatch(60, (256, 256)))
        parked = []
        for _ in range(2):
            await twin.step(ops.Dispatch(64, (256, 256)))
            parked.append(sum(tenant.parked is not None for tenant in twin.snapshot.tenants))
        await twin.compare_decisions()
        await twin.compare_records()
        assert parked == [256, 300]


async def test_a_call_ends_a_bounded_number_of_tasks_that_can_never_run(endpoint: Endpoint, name: str) -> None:
    """300 tasks queued, then a ceiling below all of them: several calls reject them, and the next tenant is served."""
    async with Twin(endpoint, name, ops.Setup(1000, (ops.Limits(), ops.Limits()))) as twin:
        for _ in range(3):
            await twin.step(ops.Submit(((0, 1000, 100),) * 100))
        await twin.step(ops.Change(0, ops.Limits(cost=999)))
        await twin.step(ops.Submit(((1, 1000, 100),)))
        await twin.step(ops.Dispatch(64, (64, 64)))
        assert 0 < len(twin.reference.rejections) <= 256
        for _ in range(2):
            await twin.step(ops.Dispatch(64, (64, 64)))
        assert len(twin.reference.rejections) == 300
        assert [task.tenant for task in twin.reference.in_state("enqueued")] == [2]
        await twin.compare_decisions()
        await twin.compare_records()
