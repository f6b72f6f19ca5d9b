"""Who is served next: by weight and cost, by priority, and what is left when a queue runs empty."""

from fairlane.domain.policy import QueuePolicy
from tests.support.store_world import World, task, tasks


async def test_service_follows_weights_by_cost_and_not_by_count(world: World) -> None:
    await world.ready(quantum_units=100)
    await world.tenant("b", weight=3)
    await world.submit(*tasks(40, 100), *tasks(200, 50, tenant="b"))
    await world.dispatch(64)
    cost = {"a": 0, "b": 0}
    for row in await world.rows("enqueued"):
        cost[str(row[1])] += int(row[4])
    assert abs(cost["a"] - cost["b"] / 3) <= 200


async def test_a_changed_weight_works_from_the_next_decision(world: World) -> None:
    await world.ready(quantum_units=100)
    await world.tenant("b")
    await world.submit(*tasks(60), *tasks(60, tenant="b"))
    await world.dispatch(20)
    before = [row[1] for row in await world.rows("enqueued")]
    await world.tenant("b", weight=9)
    await world.dispatch(40)
    after = [row[1] for row in await world.rows("enqueued")][20:]
    assert before.count("b") == 10
    assert after.count("b") >= 35


async def test_strict_priority_serves_the_lowest_number_across_tenants(world: World) -> None:
    await world.ready(policy=QueuePolicy.PRIORITY)
    await world.tenant("b")
    await world.submit(task("1", priority=9), task("2", priority=5), task("3", tenant="b", priority=7))
    await world.dispatch(2)
    assert [row[2] for row in await world.rows("enqueued")] == ["2", "3"]


async def test_a_tenant_without_work_keeps_debt_and_no_credit(world: World) -> None:
    await world.ready(quantum_units=1000)
    await world.tenant("b")
    await world.submit(task("t", 10), *tasks(9, tenant="b"))
    await world.dispatch(1)
    (started,) = await world.start()
    assert (await world.tenant_view()).deficit == 0
    await world.settle(started, actual=5000)
    assert (await world.tenant_view()).deficit == -4990


async def test_when_everything_is_idle_a_new_epoch_begins(world: World) -> None:
    await world.ready(quantum_units=10)
    await world.submit(*tasks(3))
    await world.drain()
    pool = await world.pool_view()
    assert (pool.round, pool.epoch, pool.live) == (0, 1, 0)
    assert await world.rows("epoch") == [("epoch", 1)]
    await world.submit(task("x"))
    tenant = await world.tenant_view()
    assert (tenant.deficit, tenant.credited) == (0, 0)
