"""A tenant that is removed and registered again is another tenant: it inherits no budget and no debt."""

from fairlane.store.messages import Write
from tests.support.store_world import World, budget, task


async def test_the_key_of_a_former_tenant_s_top_up_can_be_used_again(world: World) -> None:
    await world.ready(tenant={"budget": budget(100)})
    assert await world.store.top_up("a", 50, "june") == 150
    assert await world.store.remove_tenant("a")
    await world.tenant("a", budget=budget(100))
    assert [await world.store.top_up("a", 50, "june") for _ in range(2)] == [150, 150]


async def test_late_usage_of_a_former_tenant_is_not_the_new_one_s(world: World) -> None:
    await world.ready(tenant={"budget": budget(100)})
    (started,) = await world.active(task("t", 100))
    await world.store.evict("w1")
    await world.store.cancel([started.ref])
    assert await world.store.remove_tenant("a")
    await world.tenant("a", budget=budget(100))
    assert await world.settle(started, actual=70) is Write.STALE
    ledger = await world.ledger()
    assert (ledger.late, ledger.spent_total) == (0, 0)
    await world.worker("w2")
    (again,) = await world.active(task("u", 100), worker="w2")
    await world.store.evict("w2")
    await world.settle(again, actual=70, worker="w2")
    assert (await world.ledger()).late == 70
