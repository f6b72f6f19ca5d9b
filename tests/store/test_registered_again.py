"""A tenant that is removed and registered again is another tenant: it inherits no budget, no debt and no task."""

import pytest

from fairlane.domain.task import TaskState
from fairlane.store.messages import CancelStatus, SubmitStatus, Write
from tests.support.store_raw import command
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


@pytest.mark.parametrize("remains", ["its record", "its tombstone"])
async def test_an_id_of_a_former_tenant_s_task_is_free(world: World, remains: str) -> None:
    await world.ready()
    order = task("order-1", 100, named_by_caller=True)
    (started,) = await world.active(order)
    await world.settle(started, result=b"jsecret")
    if remains == "its tombstone":
        await command(world.store, "DEL", world.store.keys.key("task", "a", "order-1"))
    assert await world.store.remove_tenant("a")
    await world.tenant("a")
    assert await world.store.get([started.ref]) == [None]
    assert await world.store.cancel([started.ref]) == [CancelStatus.UNKNOWN]
    other = task("order-1", 70, named_by_caller=True)
    (answer,) = await world.store.submit([other], "c")
    assert answer.status is SubmitStatus.ACCEPTED
    assert (await world.view("order-1")).state is TaskState.PENDING
    (answer,) = await world.store.submit([other], "c")
    assert answer.status is SubmitStatus.EXISTING
    await world.drain()
    assert (await world.view("order-1")).result == b""


async def test_while_nobody_is_registered_a_result_can_still_be_read(world: World) -> None:
    await world.ready()
    (started,) = await world.active(task("t"))
    await world.settle(started, result=b"j1")
    assert await world.store.remove_tenant("a")
    assert (await world.view("t")).result == b"j1"
