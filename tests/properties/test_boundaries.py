"""The largest numbers and the oddest ids go through Lua and back unchanged."""

import random
import string

import pytest

from fairlane.config import PoolConfig, TenantConfig
from fairlane.domain.attempt import Outcome
from fairlane.domain.limits import MAX_COST, MAX_QUANTUM, MAX_SERVED, MAX_TASK_ID, MAX_TENANT_ID, MAX_WEIGHT
from fairlane.domain.task import TaskRef, TaskState
from fairlane.store.connection import Endpoint
from fairlane.store.messages import Settlement, Submission, SubmitStatus, Write
from fairlane.store.store import Store
from tests.support import world_operations as ops
from tests.support.store_packed import poke
from tests.support.world_twin import Twin

ODD_IDS = ["B", "a", "A-1", "a.b", "0", "9", "10", "Z", "a-", "a.", "a0", "aB", "a_b", "ab", "A", "AA", "a@b", "z"]
"""Unsorted. A locale, or a comparison that ignores case or length, would not sort them in byte order."""


def submission(tenant: str, task: str, cost: int = 1, priority: int = 100) -> Submission:
    return Submission(TaskRef(tenant, task), cost, b"", bytes(32), priority=priority)


@pytest.mark.parametrize("quantum", [2**20, MAX_QUANTUM])
async def test_the_largest_costs_and_weights_stay_exact(endpoint: Endpoint, name: str, seed: int, quantum: int) -> None:
    """Virtual times, charges and deficits as in Rust, to the last bit, with costs to 2^40 and weights to 10^6."""
    source = random.Random(f"{seed}/{quantum}")
    weights = [1, 3, MAX_WEIGHT, MAX_WEIGHT - 1]
    async with Twin(endpoint, name, ops.Setup(quantum, tuple(ops.Limits(weight) for weight in weights), 6)) as twin:
        for _ in range(60):
            cost = source.choice([MAX_COST, MAX_COST - 1, 2**39 + 1, source.randint(1, MAX_COST)])
            await twin.step(ops.Submit(tuple((i, cost, source.choice([0, 255])) for i in range(4))))
            await twin.step(ops.Dispatch(source.choice([1, 64]), (64, 64)))
            await twin.step(ops.Start(0))
            await twin.step(ops.Complete(((source.randint(0, 9), source.choice([0, 1, 999, 1000])),) * 2))
            await twin.step(ops.Throttle(source.randint(0, 9), 0))
        await twin.compare_decisions()
        await twin.compare_records()


async def test_a_debt_stops_at_its_floor(endpoint: Endpoint, name: str) -> None:
    """4,200 tasks with an estimate of 1 that each used 2^40: a deeper debt would not be exact."""
    async with Twin(endpoint, name, ops.Setup(MAX_QUANTUM, (ops.Limits(), ops.Limits()), 4200)) as twin:
        for _ in range(17):
            await twin.step(ops.Submit(((0, 1, 100),) * 250))
        for _ in range(17):
            await twin.step(ops.Dispatch(250, (8192, 0)))
            await twin.step(ops.Start(0))
        for _ in range(17):
            await twin.step(ops.Complete(((0, MAX_COST * 1000),) * 250))
        assert twin.snapshot.tenants[0].virtual_time == MAX_SERVED
        await twin.step(ops.Submit(((1, 1, 100),)))
        await twin.step(ops.Dispatch(64, (64, 0)))
        await twin.compare_decisions()
        await twin.compare_records()


async def test_fences_and_arrivals_stay_exact_to_the_end(store: Store) -> None:
    """Priority 255 with arrivals near 2^44 gives scores near 2^52; fences go up to 2^53."""
    first_fence = 2**53 - 50
    await store.put_pool(PoolConfig(slots=64, lease_ms=3_600_000))
    await store.put_tenants({"t": TenantConfig()})
    await store.register("w", "w-1", 64)
    await poke(store, "pool", fence=first_fence - 1, sequence=2**44 - 50)
    await store.submit([submission("t", f"late-{i}", priority=255) for i in range(20)], "c")
    await store.submit([submission("t", f"soon-{i}", priority=254) for i in range(20)], "c")
    while (await store.dispatch([("w-1", 64)], 3)).placed:
        pass
    started = await store.start("w-1", first_fence - 1)
    wanted = [f"soon-{i}" for i in range(20)] + [f"late-{i}" for i in range(20)]
    assert [task.ref.id for task in started.tasks] == wanted
    assert [task.fence for task in started.tasks] == list(range(first_fence, first_fence + 40))
    half = await store.start("w-1", first_fence + 19)
    assert [task.ref.id for task in half.tasks] == wanted[20:], "the cursor is exact"
    ends = [Settlement(task.ref, task.fence, Outcome.COMPLETED, 1) for task in started.tasks]
    assert await store.settle("w-1", [Settlement(ends[0].ref, ends[0].fence + 1, Outcome.COMPLETED, 1)]) == [
        Write.STALE
    ]
    assert await store.settle("w-1", ends) == [Write.DONE] * 40


async def test_ids_of_the_greatest_length_work_for_a_whole_task(store: Store) -> None:
    alphabet = string.ascii_letters + string.digits + "._@-"
    tenant = ("T" + alphabet * 3)[:MAX_TENANT_ID]
    task = ("0" + alphabet * 4)[:MAX_TASK_ID]
    other = task[:-1] + ("x" if task[-1] != "x" else "y")
    await store.put_pool(PoolConfig(lease_ms=3_600_000))
    await store.put_tenants({tenant: TenantConfig()})
    await store.register("w", "w-1", 64)
    answers = await store.submit([submission(tenant, task), submission(tenant, other)], "c")
    assert [answer.status for answer in answers] == [SubmitStatus.ACCEPTED] * 2
    await store.dispatch([("w-1", 64)], 64)
    started = await store.start("w-1", 0)
    assert [each.ref for each in started.tasks] == [TaskRef(tenant, task), TaskRef(tenant, other)]
    ends = [Settlement(each.ref, each.fence, Outcome.COMPLETED, 7, b"done") for each in started.tasks]
    assert await store.settle("w-1", ends) == [Write.DONE] * 2
    collected = await store.collect("c", "0")
    assert [(view.ref.id, view.state, view.actual) for view in collected.tasks] == [
        (task, TaskState.COMPLETED, 7),
        (other, TaskState.COMPLETED, 7),
    ]
    assert [view.id for view in (await store.snapshot()).tenants] == [tenant]


@pytest.mark.parametrize("batch", [1, 2, 64])
async def test_equals_are_served_in_the_order_of_their_arrival(store: Store, batch: int) -> None:
    """Whatever their names are. Lua sorts within a call, the server between calls: batches of every size must agree."""
    await store.put_pool(PoolConfig(quantum_units=10, lease_ms=3_600_000))
    await store.put_tenants({tenant: TenantConfig() for tenant in ODD_IDS})
    await store.register("w", "w-1", 64)
    await store.submit([submission(tenant, f"{i}", 10) for i in range(3) for tenant in ODD_IDS], "c")
    while (await store.dispatch([("w-1", 64)], batch)).placed:
        pass
    started = await store.start("w-1", 0)
    assert [(task.ref.tenant, task.ref.id) for task in started.tasks] == [
        (tenant, f"{i}") for i in range(3) for tenant in ODD_IDS
    ]
    in_bytes = sorted(ODD_IDS, key=lambda tenant: tenant.encode())
    assert [view.id for view in (await store.snapshot()).tenants] == in_bytes


async def test_a_tenant_that_was_removed_and_registered_again_is_new(store: Store) -> None:
    await store.put_pool(PoolConfig(quantum_units=10, lease_ms=3_600_000))
    await store.put_tenants({"a": TenantConfig(weight=5), "b": TenantConfig()})
    new = (await store.snapshot()).tenants[0]
    await store.register("w", "w-1", 64)
    await store.submit([submission("a", "1", 100), submission("b", "1", 100)], "c")
    await store.dispatch([("w-1", 64)], 1)
    (task,) = (await store.start("w-1", 0)).tasks
    await store.settle("w-1", [Settlement(task.ref, task.fence, Outcome.COMPLETED, 5)])
    (used,) = [each for each in (await store.snapshot()).tenants if each.id == task.ref.tenant]
    assert used.ratio < 1000
    assert await store.remove_tenant(task.ref.tenant)
    assert not await store.remove_tenant(task.ref.tenant)
    await store.put_tenants({task.ref.tenant: TenantConfig(weight=5)})
    (again,) = [each for each in (await store.snapshot()).tenants if each.id == task.ref.tenant]
    assert (again.ratio, again.deficit, again.slots, again.queued) == (new.ratio, new.deficit, 0, 0)
