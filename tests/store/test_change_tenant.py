"""change_tenant, tenant: several operators read, change and write back limits at once."""

import pytest

from fairlane.config import TenantConfig, WindowConfig
from fairlane.domain.events import ReleasedRow
from fairlane.domain.policy import BudgetPolicy, ParkReason
from fairlane.errors import StoreError
from tests.support.store_dump import unchanged
from tests.support.store_packed import poke
from tests.support.store_world import World, budget, task, tasks

SECOND = WindowConfig(limit=5, interval_ms=1_000)
MINUTE = WindowConfig(limit=900, interval_ms=60_000)
LIMITS = [
    TenantConfig(),
    TenantConfig(weight=7, slots=3, cost_ceiling_units=50, queue_limit=9),
    TenantConfig(budget=budget(0)),
    TenantConfig(budget=budget(2**50, when_exhausted=BudgetPolicy.REJECT)),
    TenantConfig(budget=budget(10, period_ms=60_000, anchor_ms=5), starts=SECOND),
    TenantConfig(spend=MINUTE),
    TenantConfig(starts=SECOND, spend=MINUTE),
]


@pytest.mark.parametrize("limits", LIMITS, ids=lambda limits: str(limits.model_dump(exclude_defaults=True)))
async def test_limits_are_read_as_they_were_put(world: World, limits: TenantConfig) -> None:
    await world.pool()
    assert await world.store.change_tenant("a", None, limits)
    view = await world.tenant_view()
    assert view.limits == limits
    assert view == await world.store.tenant("a")


async def test_one_tenant_is_read_among_many_and_an_unregistered_one_is_none(world: World) -> None:
    await world.pool()
    await world.store.put_tenants({name: TenantConfig(weight=ord(name)) for name in "abc"})
    async with unchanged(world.store, clock=True):
        found = await world.store.tenant("b")
        assert await world.store.tenant("bb") is None
    assert found is not None
    assert (found.id, found.weight) == ("b", ord("b"))


async def test_a_view_has_the_same_ledger_as_the_ledger_command(world: World) -> None:
    await world.ready(tenant={"budget": budget(500, period_ms=60_000)})
    await world.store.top_up("a", 50, "more")
    first, _ = await world.active(*tasks(2, 100))
    await world.settle(first, actual=130)
    for _ in range(2):
        ledger = (await world.tenant_view()).ledger
        assert ledger == await world.ledger()
        world.now += 60_000  # the period ends, and one of its attempts still runs
    assert (ledger.limit, ledger.held, ledger.held_before, ledger.spent_before) == (500, 0, 100, 130)


async def test_a_changed_weight_leaves_budget_and_period_alone(world: World) -> None:
    limits = TenantConfig(budget=budget(500, period_ms=60_000), starts=SECOND)
    await world.ready(tenant=dict(limits))
    (started,) = await world.active(task("t", 100))
    await world.settle(started, actual=80)
    await world.store.top_up("a", 50, "more")
    before = await world.ledger()
    assert await world.store.change_tenant("a", limits, limits.model_copy(update={"weight": 3}))
    assert (await world.tenant_view()).weight == 3
    assert await world.ledger() == before
    assert await world.rows("period") == []


async def test_of_two_changes_based_on_the_same_read_the_second_is_refused(world: World) -> None:
    await world.ready()
    read = (await world.tenant_view()).limits
    assert await world.store.change_tenant("a", read, TenantConfig(weight=2))
    async with unchanged(world.store, clock=True):
        assert not await world.store.change_tenant("a", read, TenantConfig(slots=1))
    assert (await world.tenant_view()).limits == TenantConfig(weight=2)


@pytest.mark.parametrize("limits", LIMITS[1:], ids=lambda limits: str(limits.model_dump(exclude_defaults=True)))
async def test_each_setting_that_differs_from_what_was_read_refuses(world: World, limits: TenantConfig) -> None:
    await world.ready(tenant=dict(limits))
    assert not await world.store.change_tenant("a", TenantConfig(), TenantConfig(weight=2))
    assert (await world.tenant_view()).limits == limits


@pytest.mark.parametrize("read", [None, TenantConfig(weight=2)], ids=["as new", "as it was"])
async def test_a_tenant_registered_or_removed_meanwhile_is_a_refusal(world: World, read: TenantConfig | None) -> None:
    await world.pool()
    if read is None:
        await world.tenant("a")
    async with unchanged(world.store, clock=True):
        assert not await world.store.change_tenant("a", read, TenantConfig(weight=3))


async def test_a_removed_window_is_no_difference(world: World) -> None:
    await world.ready(tenant={"starts": SECOND})
    await world.tenant("a", weight=2)
    assert (await world.tenant_view()).limits == TenantConfig(weight=2)
    assert await world.store.change_tenant("a", TenantConfig(weight=2), TenantConfig(weight=3))
    assert (await world.tenant_view()).weight == 3


async def test_the_anchor_of_a_removed_period_is_no_difference_and_begins_none(world: World) -> None:
    await world.ready(tenant={"budget": budget(500)})
    (started,) = await world.active(task("t", 100))
    await world.settle(started, actual=80)
    await poke(world.store, "tenant", "a", budget_anchor=5)
    before = await world.tenant_view()
    assert before.limits == TenantConfig(budget=budget(500))
    assert await world.store.change_tenant("a", before.limits, before.limits.model_copy(update={"weight": 3}))
    assert await world.ledger() == before.ledger
    assert before.ledger.spent == 80


async def test_a_change_that_is_already_in_force_writes_nothing(world: World) -> None:
    await world.ready(tenant={"weight": 2})
    async with unchanged(world.store, clock=True):
        assert await world.store.change_tenant("a", TenantConfig(), TenantConfig(weight=2))


async def test_a_tenant_that_fits_again_runs_at_once(world: World) -> None:
    await world.ready(tenant={"slots": 1})
    await world.submit(*tasks(2))
    assert (await world.dispatch()).placed == 1
    assert (await world.tenant_view()).parked is ParkReason.SLOTS
    assert await world.store.change_tenant("a", TenantConfig(slots=1), TenantConfig(slots=2))
    assert await world.rows("released") == [ReleasedRow("a", (await world.tenant_view()).deficit)]
    assert (await world.dispatch()).placed == 1


async def test_without_a_pool_the_error_says_so(world: World) -> None:
    with pytest.raises(StoreError, match="no such pool"):
        await world.store.change_tenant("a", None, TenantConfig())
    await world.pool()
