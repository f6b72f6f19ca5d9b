"""The service of two backlogged tenants never differs by more than the bound of docs/fairness.md.

The history comes from the event stream, as in an audit; charges and corrections are the store's own.
"""

import random

import pytest

from fairlane import _core
from fairlane.store.connection import Endpoint
from tests.support import world_operations as ops
from tests.support.oracle_service import ServiceHistory
from tests.support.world_twin import Twin

QUANTA = [1, 1000, 100_000]


async def watch(twin: Twin, operations: list[ops.Operation]) -> ServiceHistory:
    """Run operations and read the history of service from the events."""
    history = ServiceHistory()
    cursor = "0"
    for operation in [None, *operations]:
        if operation is not None:
            await twin.step(operation)
        events = await twin.store.events(cursor)
        cursor = events[-1].stream_id if events else cursor
        history.read(events, twin.snapshot)
    return history


def require_bound(history: ServiceHistory, where: str, closest_at_least: float) -> None:
    report = _core.service_gap(history.changes)
    assert report is not None, f"{where}: no two tenants were ever backlogged together"
    for gap in report:
        assert gap.holds, f"{where}: tenants {gap.pair} drifted {gap.gap} apart, the bound is {gap.bound}"
    assert report[1].ratio >= closest_at_least, f"{where}: too far from the bound to test it"


def backlog(source: random.Random, tenants: int, *, honest: bool, longest: int) -> list[ops.Operation]:
    """Keep every tenant's queue full, and serve them in batches of all sizes."""
    operations: list[ops.Operation] = []
    for _ in range(longest):
        operations.append(ops.Submit(tuple((i, ops.draw_cost(source), 100) for i in range(tenants) for _ in range(3))))
        operations.append(ops.Dispatch(source.choice([1, 3, 64]), (256, 256)))
        operations += [ops.Start(0), ops.Start(1)]
        permille = 1000 if honest else source.choice([0, 300, 1000, source.randint(0, 3000)])
        operations.append(ops.Complete(tuple((source.randint(0, 99), permille) for _ in range(source.randint(1, 9)))))
    return operations


@pytest.mark.parametrize("quantum", QUANTA)
@pytest.mark.parametrize("honest", [True, False], ids=["exact", "misestimated"])
async def test_backlogged_tenants_stay_within_the_bound(
    endpoint: Endpoint, name: str, seed: int, quantum: int, honest: bool
) -> None:
    source = random.Random(f"{seed}/{quantum}/{honest}")
    weights = [1, 1000, source.randint(1, 10), source.randint(1, 1000)]
    setup = ops.Setup(quantum, tuple(ops.Limits(weight) for weight in weights), source.choice([6, 64]))
    async with Twin(endpoint, name, setup) as twin:
        history = await watch(twin, backlog(source, len(weights), honest=honest, longest=60))
    require_bound(history, f"FAIRLANE_TEST_SEED={seed}, quantum {quantum}", closest_at_least=0.2)


@pytest.mark.parametrize("quantum", QUANTA)
async def test_the_bound_holds_under_all_operations(endpoint: Endpoint, name: str, seed: int, quantum: int) -> None:
    """Ceilings, parking, throttles, cancels, lost workers, changing weights, failures, over- and under-estimates."""
    source = random.Random(f"{seed}/{quantum}")
    setup = ops.Setup(quantum, tuple(ops.draw_limits(source) for _ in range(5)))
    async with Twin(endpoint, name, setup) as twin:
        history = await watch(twin, list(ops.draw_phases(source, 800)))
    require_bound(history, f"FAIRLANE_TEST_SEED={seed}, quantum {quantum}", closest_at_least=0.05)


async def test_a_thousand_to_one_is_served_a_thousand_to_one(endpoint: Endpoint, name: str) -> None:
    """Equal costs, exact estimates: at any time the heavy tenant has got 1,000 times as much, within the bound."""
    quantum, cost = 10, 100
    setup = ops.Setup(quantum, (ops.Limits(weight=1000), ops.Limits(weight=1)), 64)
    cycle = [
        ops.Submit(((0, cost, 100),) * 64),
        ops.Dispatch(64, (256, 0)),
        ops.Start(0),
        ops.Complete(((0, 1000),) * 64),
    ]
    async with Twin(endpoint, name, setup) as twin:
        await watch(twin, [ops.Submit(((0, cost, 100),) * 8 + ((1, cost, 100),) * 8), *cycle * 60])
        served = [0, 0]
        for ref, state in twin.reference.ended.items():
            served[ref.tenant != "t0001"] += cost if state == "completed" else 0
    heavy, light = served
    assert light >= 3 * cost
    assert abs(heavy / 1000 - light / 1) <= 2 * quantum + cost / 1000 + cost / 1
