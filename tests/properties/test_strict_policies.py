"""The policies `priority` and `fifo` keep one strict order across tenants, and ceilings hold back only their tenant."""

import random

import pytest

from fairlane.domain.events import EnqueuedRow
from fairlane.domain.policy import QueuePolicy
from fairlane.store.connection import Endpoint
from tests.support import world_operations as ops
from tests.support.world_twin import Twin

PRIORITY, FIFO = QueuePolicy.PRIORITY, QueuePolicy.FIFO


def placed(twin: Twin) -> list[str]:
    """Return the ids of the tasks placed so far, in order."""
    return [row.task for row in twin.reference.decisions if isinstance(row, EnqueuedRow)]


@pytest.mark.parametrize("policy", [PRIORITY, FIFO])
async def test_a_long_random_run_agrees_with_a_naive_scheduler(
    endpoint: Endpoint, name: str, seed: int, policy: QueuePolicy
) -> None:
    source = random.Random(f"{seed}/{policy}")
    setup = ops.Setup(1000, tuple(ops.draw_limits(source) for _ in range(6)), policy=policy)
    try:
        async with Twin(endpoint, name, setup) as twin:
            await twin.run(ops.draw_phases(source, 2000))
            assert len(twin.reference.ended) > 100, "the run must end tasks"
    except AssertionError as difference:
        pytest.fail(f"FAIRLANE_TEST_SEED={seed}, {policy}: {difference}")


@pytest.mark.parametrize(
    ("policy", "order"),
    [
        (PRIORITY, ["task-3", "task-5", "task-1", "task-4", "task-2"]),
        (FIFO, ["task-1", "task-2", "task-3", "task-4", "task-5"]),
    ],
)
async def test_order_across_tenants(endpoint: Endpoint, name: str, policy: QueuePolicy, order: list[str]) -> None:
    """Weights and costs do not matter: the task with the lowest number goes first, among equals the first to arrive."""
    tenants = (ops.Limits(weight=1000), ops.Limits(weight=1))
    async with Twin(endpoint, name, ops.Setup(1000, tenants, policy=policy)) as twin:
        await twin.step(ops.Submit(((0, 1, 5), (0, 1, 9), (1, 100_000, 0))))
        await twin.step(ops.Submit(((1, 50_000, 5), (0, 1, 4))))
        for _ in range(5):
            await twin.step(ops.Dispatch(1, (1, 0)))
        assert placed(twin) == order
        await twin.compare_decisions()


@pytest.mark.parametrize("policy", [PRIORITY, FIFO])
async def test_a_tenant_at_its_ceiling_lets_others_pass_and_then_has_its_turn(
    endpoint: Endpoint, name: str, policy: QueuePolicy
) -> None:
    tenants = (ops.Limits(slots=1), ops.Limits())
    async with Twin(endpoint, name, ops.Setup(1000, tenants, policy=policy)) as twin:
        await twin.step(ops.Submit(((0, 10, 1), (0, 10, 1), (1, 10, 2), (1, 10, 2))))
        await twin.step(ops.Dispatch(2, (2, 0)))
        assert placed(twin) == ["task-1", "task-3"], "the second task of the first tenant has no slot of its own"
        await twin.step(ops.Start(0))
        await twin.step(ops.Complete(((0, 1000),)))
        await twin.step(ops.Dispatch(1, (2, 0)))
        assert placed(twin)[2:] == ["task-2"], "its slot is free again, and its task comes first"


@pytest.mark.parametrize("policy", [PRIORITY, FIFO])
async def test_nothing_overtakes_a_task_that_waits_for_the_pool(
    endpoint: Endpoint, name: str, policy: QueuePolicy
) -> None:
    async with Twin(endpoint, name, ops.Setup(1000, (ops.Limits(), ops.Limits()), policy=policy)) as twin:
        await twin.step(ops.SetPoolCeiling(100))
        await twin.step(ops.Submit(((0, 60, 1), (0, 60, 2), (1, 10, 3))))
        await twin.step(ops.Dispatch(64, (64, 0)))
        assert placed(twin) == ["task-1"]
        await twin.step(ops.Start(0))
        await twin.step(ops.Complete(((0, 1000),)))
        await twin.step(ops.Dispatch(64, (64, 0)))
        assert placed(twin) == ["task-1", "task-2", "task-3"]
