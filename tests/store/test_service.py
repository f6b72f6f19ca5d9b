"""The order of service: by weight and cost, by priority, and after a queue was empty."""

from collections import Counter

from fairlane.domain.events import EpochRow
from fairlane.domain.policy import QueuePolicy
from tests.support.store_world import World, task, tasks


async def test_service_follows_weights_by_cost_and_not_by_count(world: World) -> None:
    await world.ready(quantum_units=100)
    await world.tenant("b", weight=3)
    await world.submit(*tasks(40, 100), *tasks(200, 50, tenant="b"))
    await world.dispatch(64)
    cost = {"a": 0, "b": 0}
    for row in await world.rows("enqueued"):
        cost[row.tenant] += row.cost
    assert abs(cost["a"] - cost["b"] / 3) <= 200


async def test_equal_weights_get_equal_service_though_one_tenant_s_tasks_cost_ten_times_as_much(world: World) -> None:
    await world.ready(slots=256)
    await world.pool(slots=256, quantum_units=100)
    await world.tenant("b")
    await world.submit(*tasks(30, 1_000), *tasks(300, 100, tenant="b"))
    await world.dispatch(220)
    cost, count = Counter[object](), Counter[object]()
    for row in await world.rows("enqueued"):
        count[row.tenant] += 1
        cost[row.tenant] += row.cost
        assert abs(cost["a"] - cost["b"]) <= 2 * 100 + 1_000 + 100
    assert (count["a"], count["b"]) == (20, 200)


async def test_a_changed_weight_works_from_the_next_decision(world: World) -> None:
    await world.ready(slots=256)
    await world.pool(slots=256, quantum_units=100)
    await world.tenant("b")
    await world.submit(*tasks(80), *tasks(80, tenant="b"))
    for weight, of_ten in ((1, 5), (9, 9), (4, 8), (1, 5)):
        await world.tenant("b", weight=weight)
        known = len(await world.rows("enqueued"))
        for _ in range(20):
            await world.dispatch(1)
        served = [row.tenant for row in await world.rows("enqueued")][known:]
        assert abs(served[:10].count("b") - of_ten) <= 1, weight
        assert abs(served.count("b") - 2 * of_ten) <= 1, weight


async def test_strict_priority_serves_the_lowest_number_across_tenants(world: World) -> None:
    await world.ready(policy=QueuePolicy.PRIORITY)
    await world.tenant("b")
    await world.submit(task("1", priority=9), task("2", priority=5), task("3", tenant="b", priority=7))
    await world.dispatch(2)
    assert [row.task for row in await world.rows("enqueued")] == ["2", "3"]


async def test_a_tenant_without_work_keeps_debt_and_no_credit(world: World) -> None:
    await world.ready(quantum_units=1000)
    await world.tenant("b")
    await world.submit(task("t", 10), *tasks(9, tenant="b"))
    await world.dispatch(1)
    (started,) = await world.start()
    assert (await world.tenant_view()).deficit == -10
    await world.settle(started, actual=5000)
    assert (await world.tenant_view()).deficit == -5000
    await world.dispatch(8)
    for each in await world.start():
        await world.settle(each)
    await world.dispatch(1)
    assert (await world.tenant_view()).deficit == -4200, "it fades as others are served"


async def test_when_everything_is_idle_a_new_epoch_begins(world: World) -> None:
    await world.ready(quantum_units=10)
    await world.submit(*tasks(3))
    await world.drain()
    pool = await world.pool_view()
    assert (pool.round, pool.epoch, pool.live) == (0, 1, 0)
    assert await world.rows("epoch") == [EpochRow(1)]
    await world.submit(task("x"))
    tenant = await world.tenant_view()
    assert (tenant.deficit, tenant.virtual_time) == (0, 0)
