"""A tenant stopped by its own limits: parked alone, released when its head fits, its hopeless tasks rejected."""

from fairlane.domain.policy import ParkReason, StopReason
from fairlane.domain.task import TaskState
from fairlane.store.scripts import VISIT_LIMIT
from tests.support.store_world import World, task, tasks


async def test_a_tenant_at_its_slots_is_parked_alone(world: World) -> None:
    await world.ready(tenant={"slots": 2})
    await world.tenant("b")
    await world.submit(*tasks(4), *tasks(4, tenant="b"))
    answer = await world.dispatch()
    assert (answer.placed, answer.stop, answer.runnable) == (6, StopReason.EMPTY, 0)
    assert (await world.tenant_view()).parked is ParkReason.SLOTS
    assert await world.rows("parked") == [("parked", "a", "slots")]
    await world.settle((await world.start())[0])
    tenant = await world.tenant_view()
    assert (tenant.parked, tenant.in_calendar) == (None, True)
    assert await world.rows("released") == [("released", "a", tenant.deficit)]
    assert (await world.dispatch()).placed == 1


async def test_a_tenant_at_its_cost_is_parked_until_its_head_fits(world: World) -> None:
    await world.ready(tenant={"cost_ceiling_units": 250})
    first, second = await world.active(task("x", 200), task("y", 50))
    await world.submit(task("z", 100))
    await world.dispatch()
    assert (await world.tenant_view()).parked is ParkReason.COST
    await world.settle(second, actual=50)
    assert (await world.tenant_view()).parked is ParkReason.COST
    await world.settle(first, actual=200)
    assert (await world.dispatch()).placed == 1


async def test_raised_limits_release_a_parked_tenant_at_once(world: World) -> None:
    await world.ready(tenant={"slots": 1})
    await world.submit(*tasks(3))
    await world.dispatch()
    assert (await world.tenant_view()).parked is ParkReason.SLOTS
    await world.tenant("a", slots=2)
    assert (await world.tenant_view()).in_calendar
    assert (await world.dispatch()).placed == 1


async def test_cancelling_a_head_that_does_not_fit_releases_its_tenant(world: World) -> None:
    await world.ready(tenant={"cost_ceiling_units": 250})
    await world.submit(task("x", 200), large := task("y", 100), task("z", 50))
    await world.dispatch()
    assert (await world.tenant_view()).parked is ParkReason.COST
    await world.store.cancel([large.ref])
    assert (await world.dispatch()).placed == 1


async def test_a_head_that_can_never_run_again_ends_rejected_and_stops_nothing(world: World) -> None:
    await world.ready(tenant={"cost_ceiling_units": 500})
    await world.submit(task("large", 400), task("small", 20))
    await world.tenant("a", cost_ceiling_units=300)
    answer = await world.dispatch()
    assert (answer.placed, answer.stop) == (1, StopReason.EMPTY)
    view = await world.view("large")
    assert (view.state, view.error_code) == (TaskState.REJECTED, "cost_above_ceiling")
    assert await world.rows("rejected") == [("rejected", "a", "large", 0, 0, 0, 1000, "rejected", 0)]
    assert [view.ref.id for view in (await world.store.collect("c", 0)).tasks] == ["large"]


async def test_a_lowered_pool_ceiling_rejects_too(world: World) -> None:
    await world.ready()
    await world.submit(task("large", 400))
    await world.pool(cost_ceiling_units=300)
    await world.dispatch()
    assert await world.state("large") is TaskState.REJECTED
    assert (await world.pool_view()).live == 0


async def test_one_call_rejects_a_bounded_number_of_tasks(world: World) -> None:
    await world.ready(tenant={"cost_ceiling_units": 500})
    await world.submit(*tasks(2 * VISIT_LIMIT + 10, 400))
    await world.tenant("a", cost_ceiling_units=300)
    stops = [(await world.dispatch()).stop for _ in range(3)]
    assert stops == [StopReason.VISITS, StopReason.VISITS, StopReason.EMPTY]
    assert (await world.pool_view()).live == 0
