"""A tenant at its own limits is parked alone and released when its next task fits; hopeless tasks are rejected."""

import pytest

from fairlane.config import TenantConfig
from fairlane.domain.events import EndRow, ParkedRow, ReleasedRow
from fairlane.domain.policy import ParkReason, StopReason
from fairlane.domain.task import TaskState
from fairlane.store.prelude import TIMER_LIMIT, VISIT_LIMIT
from tests.support.store_windows import window
from tests.support.store_world import World, budget, task, tasks


async def test_a_tenant_at_its_slots_is_parked_alone(world: World) -> None:
    await world.ready(tenant={"slots": 2})
    await world.tenant("b")
    await world.submit(*tasks(4), *tasks(4, tenant="b"))
    answer = await world.dispatch()
    assert (answer.placed, answer.stop, answer.runnable) == (6, StopReason.EMPTY, 0)
    assert (await world.tenant_view()).parked is ParkReason.SLOTS
    assert await world.rows("parked") == [ParkedRow("a", "slots")]
    await world.settle((await world.start())[0])
    tenant = await world.tenant_view()
    assert (tenant.parked, tenant.in_calendar) == (None, True)
    assert await world.rows("released") == [ReleasedRow("a", tenant.deficit)]
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
    assert await world.rows("rejected") == [EndRow("rejected", "a", "large", 0, 0, 0, 1000, "rejected", 0)]
    assert [view.ref.id for view in (await world.store.collect("c", "0")).tasks] == ["large"]


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


@pytest.mark.parametrize("topped_up", ["before it is parked", "while it is parked"])
async def test_a_head_that_only_a_top_up_could_pay_ends_with_its_period_for_every_park_reason(
    world: World, topped_up: str
) -> None:
    await world.ready(tenant={"slots": 1, "budget": budget(100, period_ms=1000)}, lease_ms=3_600_000)
    await world.store.top_up("a", 400, "k")
    await world.active(task("run", 100))
    await world.submit(task("big", 300))
    if topped_up == "while it is parked":
        world.now += 1000
        assert await world.store.top_up("a", 400, "more") == 500
    answer = await world.dispatch()
    assert (await world.tenant_view()).parked is ParkReason.SLOTS
    assert answer.wake_ms == 1000
    world.now += 1000
    await world.dispatch()
    view = await world.view("big")
    assert (view.state, view.error_code) == (TaskState.REJECTED, "cost_above_ceiling")


@pytest.mark.parametrize("limits", [{"cost_ceiling_units": 300}, {"spend": window(300)}], ids=str)
async def test_a_lowered_limit_of_the_pool_ends_heads_of_parked_tenants(
    world: World, limits: dict[str, object]
) -> None:
    await world.ready(tenant={"slots": 1}, lease_ms=3_600_000)
    await world.tenant("b", slots=1)
    await world.active(task("run", 10), task("run", 10, tenant="b"))
    await world.submit(task("large", 400), task("small", 300, tenant="b"))
    await world.dispatch()
    await world.pool(lease_ms=3_600_000, **limits)
    assert await world.store.wait("dispatcher", 5)
    await world.dispatch()
    assert await world.state("large") is TaskState.REJECTED
    assert (await world.tenant_view("b")).parked is ParkReason.SLOTS


async def test_parked_tenants_are_checked_in_bounded_steps(world: World) -> None:
    names = [f"p{number}" for number in range(TIMER_LIMIT + 10)]
    await world.pool(slots=1000, lease_ms=3_600_000)
    await world.store.put_tenants(dict.fromkeys(names, TenantConfig(slots=1)))
    await world.worker("w1", slots=1000)
    for name in ("run", "large"):
        await world.submit(*(task(name, 400, tenant=tenant) for tenant in names))
    while (await world.dispatch(64)).stop is not StopReason.EMPTY:
        pass
    await world.pool(slots=1000, lease_ms=3_600_000, cost_ceiling_units=300)
    assert (await world.dispatch(64)).wake_ms == 0
    assert (await world.pool_view()).live == 2 * len(names) - VISIT_LIMIT
    assert len([each for each in (await world.store.snapshot()).tenants if each.parked]) == 10
    while (await world.dispatch(64)).stop is not StopReason.EMPTY:
        pass
    assert {await world.state("large", tenant) for tenant in names} == {TaskState.REJECTED}
