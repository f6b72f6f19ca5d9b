"""Changes that must not matter: larger weights in the same proportion, other names, smaller batches."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from fairlane.domain.events import EnqueuedRow
from fairlane.store.connection import Endpoint
from tests.support import world_operations as ops
from tests.support.world_model import tenant_id
from tests.support.world_twin import Twin

TENANTS = 5
BY_NAME = {ops.Join, ops.Leave, ops.Throttle, ops.SetPoolCeiling}
"""Tenants that come and go, and pauses that end at the same moment, are taken in the order of names."""
STOPS = {ops.Pause, ops.SetCapacity, ops.LoseWorker}
"""They can bring a short run to a halt: a task that lost a worker runs alone."""
KINDS = tuple(kind for kind in ops.BUSY if kind not in BY_NAME | STOPS)

Changed = Callable[[ops.Operation], Iterator[ops.Operation]]


async def decisions(
    endpoint: Endpoint, name: str, setup: ops.Setup, operations: list[ops.Operation]
) -> list[EnqueuedRow]:
    """Run operations on a store and return every task that it handed out."""
    async with Twin(endpoint, name, setup) as twin:
        for operation in operations:
            await twin.step(operation)
        cursor, rows = "0", []
        while events := await twin.store.events(cursor, limit=1000):
            cursor = events[-1].stream_id
            rows += [row for event in events for row in event.rows if isinstance(row, EnqueuedRow)]
    return rows


def heavier(factor: int) -> Changed:
    def changed(operation: ops.Operation) -> Iterator[ops.Operation]:
        if isinstance(operation, ops.Change):
            limits = replace(operation.limits, weight=factor * operation.limits.weight)
            operation = replace(operation, limits=limits)
        yield operation

    return changed


def renamed(names: list[int]) -> Changed:
    def changed(operation: ops.Operation) -> Iterator[ops.Operation]:
        if isinstance(operation, ops.Submit):
            yield ops.Submit(tuple((names[pick % TENANTS], cost, priority) for pick, cost, priority in operation.tasks))
        elif isinstance(operation, ops.Change):
            yield replace(operation, tenant=names[operation.tenant % TENANTS])
        else:
            yield operation

    return changed


def in_parts(operation: ops.Operation) -> Iterator[ops.Operation]:
    """Split a batch that all goes to the first worker."""
    if isinstance(operation, ops.Dispatch) and operation.limit <= operation.offer[0]:
        parts = [1, 1, operation.limit - 2] if operation.limit > 2 else [operation.limit]
        yield from (ops.Dispatch(part, operation.offer) for part in parts)
    else:
        yield operation


def without_plans(operation: ops.Operation) -> Iterator[ops.Operation]:
    """Leave no places for tasks to come: the parts of a batch offer more of them together than the batch does."""
    yield replace(operation, keep=0) if isinstance(operation, ops.Dispatch) else operation


@pytest.mark.parametrize("run", range(2))
async def test_the_same_tasks_are_handed_out_in_the_same_order(
    endpoint: Endpoint, fresh_name: Callable[[], str], seed: int, run: int
) -> None:
    source = random.Random(f"{seed}/{run}")
    tenants = tuple(ops.draw_limits(source) for _ in range(TENANTS))
    setup = ops.Setup(source.choice([1, 1000, 100_000]), tenants, source.choice([6, 64]))
    operations = [ops.draw_operation(source, KINDS) for _ in range(200)]

    async def decided(change: Changed, setup: ops.Setup) -> list[EnqueuedRow]:
        return await decisions(endpoint, fresh_name(), setup, [each for old in operations for each in change(old)])

    wanted = await decisions(endpoint, fresh_name(), setup, operations)
    assert len(wanted) > 20

    factor = 2 ** source.randint(1, 9)
    scaled = replace(setup, tenants=tuple(replace(limits, weight=factor * limits.weight) for limits in tenants))
    assert await decided(heavier(factor), scaled) == wanted, "all weights times a power of two"

    names = source.sample(range(TENANTS), TENANTS)
    moved = replace(setup, tenants=tuple(tenants[names.index(place)] for place in range(TENANTS)))
    new = {tenant_id(old + 1): tenant_id(name + 1) for old, name in enumerate(names)}
    assert await decided(renamed(names), moved) == [replace(row, tenant=new[row.tenant]) for row in wanted], "new names"

    whole = await decided(without_plans, setup)
    operations = [each for old in operations for each in without_plans(old)]
    assert await decided(in_parts, setup) == whole, "smaller batches"
