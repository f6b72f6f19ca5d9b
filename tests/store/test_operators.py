"""put_pool, tenants, pause, resume, admit, snapshot: the operators' commands and their refusals."""

import pytest

from fairlane.audit import check_invariants
from fairlane.config import TenantConfig
from fairlane.domain.events import PausedRow, RemovedRow, ResumedRow
from fairlane.domain.policy import QueuePolicy, StopReason
from fairlane.domain.task import TaskState
from fairlane.errors import ConfigError, FairlaneError, StoreError
from fairlane.store.codec import pack
from fairlane.store.keys import POOL_SETTINGS, POOL_STATE, SCHEMA_VERSION
from tests.support.store_dump import unchanged
from tests.support.store_packed import poke
from tests.support.store_raw import command
from tests.support.store_world import World, task, tasks


@pytest.mark.parametrize(
    "settings", [{"policy": QueuePolicy.FIFO}, {"policy": QueuePolicy.PRIORITY}, {"quantum_units": 7}]
)
async def test_policy_and_quantum_do_not_change_while_tasks_exist(world: World, settings: dict[str, object]) -> None:
    await world.ready()
    await world.submit(task("t"))
    (field,) = settings
    async with unchanged(world.store, clock=True):
        with pytest.raises(ConfigError, match=field.removesuffix("_units")):
            await world.pool(**settings)
    await world.drain()
    await world.pool(**settings)  # nothing waits or runs any more
    await world.submit(task("u"))
    await world.drain()
    assert await world.state("u") is TaskState.COMPLETED


async def test_another_schema_is_refused(world: World) -> None:
    await world.ready()
    await poke(world.store, "pool", schema=99)
    async with unchanged(world.store, clock=True):
        with pytest.raises(ConfigError) as caught:
            await world.pool()
        with pytest.raises(ConfigError, match="another version"):
            await check_invariants(world.store)
        with pytest.raises(StoreError, match="another version"):
            await world.dispatch()
    versions = f"(schema 99; this one has {SCHEMA_VERSION}). "
    message = f"scheduler {world.name}: another version of Fairlane wrote its state {versions}"
    assert str(caught.value).startswith(message)
    assert world.store.keys.prefix in str(caught.value)
    await poke(world.store, "pool", schema=SCHEMA_VERSION)


async def test_a_state_whose_rows_were_lists_is_refused_too(world: World) -> None:
    """Rows were lists in the first schema."""
    await world.ready()
    rows = {"settings": POOL_SETTINGS, "state": POOL_STATE}
    fields = {name: await command(world.store, "HGET", world.store.keys.pool, name) for name in rows}
    for name, parts in rows.items():
        await command(world.store, "HSET", world.store.keys.pool, name, pack([1] * len(parts)))
    with pytest.raises(ConfigError, match="another version"):
        await world.pool()
    with pytest.raises(ConfigError, match="another version"):
        await check_invariants(world.store)
    for name, raw in fields.items():
        await command(world.store, "HSET", world.store.keys.pool, name, raw)


async def test_other_settings_change_at_once_while_tasks_exist(world: World) -> None:
    await world.ready(max_attempts=1)
    await world.submit(*tasks(3))
    await world.pool(slots=2, retention_ms=1000)
    assert (await world.dispatch()).placed == 2
    await world.pool(slots=3)
    assert (await world.dispatch()).placed == 1


async def test_a_capacity_at_the_hard_limit_follows_it_and_a_lower_one_is_kept(world: World) -> None:
    await world.pool(slots=10)
    await world.pool(slots=20)
    assert (await world.pool_view()).capacity == 20
    await world.store.set_capacity(5)
    await world.pool(slots=30)
    assert (await world.pool_view()).capacity == 5
    await world.pool(slots=4)
    assert (await world.pool_view()).capacity == 4


async def test_the_error_of_a_scheduler_without_a_pool_says_so(world: World) -> None:
    with pytest.raises(StoreError, match="no such pool"):
        await world.store.put_tenants({"a": TenantConfig()})
    await world.pool()


async def test_tenants_are_put_changed_and_counted(world: World) -> None:
    await world.pool()
    assert await world.store.put_tenants({"a": TenantConfig(weight=2), "b": TenantConfig()}) == 2
    assert await world.store.put_tenants({"b": TenantConfig(slots=3), "c": TenantConfig()}) == 1
    views = {view.id: view for view in (await world.store.snapshot()).tenants}
    assert (views["a"].weight, views["b"].slot_ceiling, views["c"].cost_ceiling) == (2, 3, None)


async def test_more_tenants_than_fit_one_call_are_all_put(world: World) -> None:
    await world.pool()
    assert await world.store.put_tenants({f"n{number}": TenantConfig() for number in range(1201)}) == 1201


@pytest.mark.parametrize("where", ["pending", "waiting", "enqueued", "active"])
async def test_a_tenant_with_tasks_is_not_forgotten(world: World, where: str) -> None:
    await world.ready(throttle_scope="task")
    if where in {"waiting", "active"}:
        (started,) = await world.active(task("t"))
        if where == "waiting":
            await world.throttle(started, 100)
    else:
        await world.submit(task("t"))
        if where == "enqueued":
            await world.dispatch()
    async with unchanged(world.store, clock=True):
        with pytest.raises(ConfigError, match="still has tasks"):
            await world.store.remove_tenant("a")


async def test_a_tenant_without_tasks_is_forgotten_and_can_come_back(world: World) -> None:
    await world.ready()
    await world.submit(task("t"))
    await world.drain()
    assert await world.store.remove_tenant("a")
    async with unchanged(world.store, clock=True):
        assert not await world.store.remove_tenant("a")
    assert await world.key_type("tenant", "a") == "none"
    assert await world.rows("removed") == [RemovedRow("a")]
    await world.tenant("a")
    assert (await world.tenant_view()).ratio == 1000
    await world.submit(task("u"))
    await world.drain()


async def test_pause_and_resume(world: World) -> None:
    await world.ready()
    await world.submit(task("t"))
    await world.store.pause(5000)
    assert (await world.pool_view()).paused_ms == 5000
    assert (await world.dispatch()).stop is StopReason.PAUSED
    await world.store.resume()
    assert (await world.dispatch()).placed == 1
    assert await world.rows("paused", "resumed") == [PausedRow(world.now + 5000), ResumedRow()]


async def test_a_pause_never_shortens_a_longer_one(world: World) -> None:
    await world.ready()
    await world.store.pause(5000)
    await world.store.pause(10)
    assert (await world.pool_view()).paused_ms == 5000


@pytest.mark.parametrize("duration", [0, -1, 1.5, True, float("nan"), 10**18, "5"])
async def test_a_bad_pause_is_refused(world: World, duration: object) -> None:
    await world.ready()
    async with unchanged(world.store, clock=True):
        with pytest.raises(FairlaneError, match="duration_ms"):
            await world.store.pause(duration)  # type: ignore[arg-type]


async def test_a_snapshot_reads_pool_and_tenants_and_changes_nothing(world: World) -> None:
    await world.ready(cost_ceiling_units=5000)
    await world.active(task("x", 70))
    await world.submit(task("y", 30))
    async with unchanged(world.store, clock=True):
        snapshot = await world.store.snapshot()
    assert (snapshot.pool.slots, snapshot.pool.cost, snapshot.pool.live) == (1, 70, 2)
    assert (snapshot.pool.hard_limit, snapshot.pool.cost_ceiling, snapshot.pool.now_ms) == (64, 5000, world.now)
    assert [(view.id, view.slots, view.queued) for view in snapshot.tenants] == [("a", 1, 1)]


async def test_a_snapshot_comes_in_pages(world: World) -> None:
    await world.pool()
    names = sorted(["Z", "a", "a-b", "a.b", "a_b", "b", "9"])
    await world.store.put_tenants({tenant: TenantConfig() for tenant in names})
    seen: list[str] = []
    more = True
    while more:
        page = await world.store.snapshot(seen[-1] if seen else "", 3)
        seen += [view.id for view in page.tenants]
        more = page.more
    assert seen == names
    assert (await world.store.snapshot(seen[-1], 3)).tenants == ()


async def test_a_tenant_not_touched_since_the_pool_was_idle_reads_as_fresh(world: World) -> None:
    await world.ready(quantum_units=1)
    await world.submit(task("t"))
    await world.drain()
    view = await world.tenant_view()
    assert (view.deficit, view.virtual_time) == (0, 0)
