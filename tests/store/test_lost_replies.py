"""The reply to each command is lost once, after the server has run it: the store repeats it without another effect."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from fairlane.config import ControllerConfig, PoolConfig, TenantConfig
from fairlane.domain.attempt import Outcome
from fairlane.domain.task import TaskState
from fairlane.store.messages import CancelStatus, Return, SubmitStatus, Throttle, Write
from fairlane.store.store import Store
from tests.support.store_dump import Dump, dump
from tests.support.store_proxy import LossyProxy
from tests.support.store_world import World, settlement, task, tasks


class Cut:
    """A second connection to the world, on which one chosen reply is lost."""

    def __init__(self, store: Store, proxy: LossyProxy) -> None:
        self.store = store
        self._proxy = proxy

    def losing(self, command: str) -> Store:
        """Return the store, of which the next reply to ``command`` will be lost."""
        self._proxy.lose_reply_to(command)
        return self.store


@pytest.fixture
async def cut(world: World, proxy: LossyProxy) -> AsyncIterator[Cut]:
    """The world behind the proxy. A test must lose exactly one reply."""
    async with world.another_store(proxy.endpoint()) as store:
        yield Cut(store, proxy)
    assert proxy.lost == 1


async def test_submit_makes_no_second_task(world: World, cut: Cut) -> None:
    await world.ready()
    await cut.store.submit([], "c")  # the server knows the script
    answers = await cut.losing("submit").submit(tasks(3), "c")
    assert {answer.status for answer in answers} == {SubmitStatus.EXISTING}
    assert (await world.pool_view()).live == 3


async def test_dispatch_places_no_task_twice_and_leaks_no_slot(world: World, cut: Cut) -> None:
    await world.ready()
    await world.dispatch()
    await world.submit(*tasks(6))
    answer = await cut.losing("dispatch").dispatch([("w1", 4)], 4)
    assert answer.placed == 2  # the lost reply's four are already placed
    started = await world.start()
    assert sorted(each.ref.id for each in started) == [each.ref.id for each in tasks(6)]
    assert (await world.pool_view()).slots == 6
    for each in started:
        await world.settle(each)
    assert (await world.pool_view()).slots == 0


async def test_start_hands_over_everything_again(world: World, cut: Cut) -> None:
    await world.ready()
    await world.submit(*tasks(3))
    await world.dispatch()
    await world.store.start("w1", 99)
    started = await cut.losing("start").start("w1", 0)
    assert [each.fence for each in started.tasks] == [1, 2, 3]
    assert len(await world.rows("active")) == 3


@pytest.mark.parametrize("outcome", list(Outcome))
async def test_settle_settles_once(world: World, cut: Cut, outcome: Outcome) -> None:
    await world.ready()
    first, second, _ = await world.active(*tasks(3))
    await world.settle(first)
    before = (await world.tenant_view()).deficit
    assert await cut.losing("settle").settle("w1", [settlement(second, outcome)]) == [Write.REPEATED]
    view = await world.view(second.ref.id)
    assert view.failures == (1 if outcome is Outcome.FAILED else 0)
    assert len(await world.rows("completed", "failed", "expired", "cancelled")) == 2
    assert (await world.tenant_view()).deficit == before
    assert (await world.pool_view()).slots == 1


async def test_settle_and_start_settle_once_and_start_all(world: World, cut: Cut) -> None:
    await world.ready()
    first, second = await world.active(*tasks(2))
    await world.settle(first)
    await world.submit(*tasks(2, first=5))
    await world.dispatch()
    await world.store.settle_and_start("w1", [settlement(first)], 99, 0)  # the server knows the script
    writes, started = await cut.losing("turn").settle_and_start("w1", [settlement(second)], second.fence)
    assert writes == [Write.REPEATED]
    assert [each.fence for each in started.tasks] == [3, 4]


async def test_throttle_gives_the_charge_back_once(world: World, cut: Cut) -> None:
    await world.ready()
    first, second = await world.active(*tasks(2))
    await world.submit(task("waiting"))
    await world.throttle(first, 10)
    before = (await world.tenant_view()).deficit
    assert await cut.losing("throttle").throttle("w1", [Throttle(second.ref, second.fence, 10)]) == [Write.REPEATED]
    assert (await world.tenant_view()).deficit == before + 100
    assert ((await world.view(second.ref.id)).throttles, (await world.pool_view()).throttles) == (1, 2)


async def test_release_returns_once(world: World, cut: Cut) -> None:
    await world.ready()
    first, second = await world.active(*tasks(2))
    await world.release(first)
    assert await cut.losing("release").release("w1", [Return(second.ref, second.fence)]) == [Write.REPEATED]
    assert (await world.tenant_view()).queued == 2
    assert len(await world.rows("returned")) == 2


async def test_cancel_says_that_it_has_ended(world: World, cut: Cut) -> None:
    await world.ready()
    await world.submit(*tasks(2))
    await world.store.cancel([tasks(1)[0].ref])
    assert await cut.losing("cancel").cancel([tasks(2)[1].ref]) == [CancelStatus.ENDED]
    assert await world.state("t00001") is TaskState.CANCELLED


async def test_evict_continues_where_the_lost_step_ended(world: World, cut: Cut) -> None:
    await world.ready()
    await world.store.evict("stranger")
    await world.active(*tasks(3))
    answer = await cut.losing("evict").evict("w1")
    assert (answer.tasks, answer.more) == (0, False)
    assert len(await world.rows("lost")) == 3


async def test_adapt_counts_one_tick(world: World, cut: Cut) -> None:
    await world.ready()
    config = ControllerConfig(period_ms=250)
    await world.store.adapt(config)
    (started,) = await world.active(task("t"))
    await world.throttle(started, 0)
    world.now += 1000
    answer = await cut.losing("adapt").adapt(config)
    assert answer.after == 32
    assert len([row for row in await world.rows("capacity") if row.reason == "throttled"]) == 1


REPEATABLE: dict[str, Callable[[Store], Awaitable[object]]] = {
    "put_pool": lambda store: store.put_pool(PoolConfig()),
    "put_tenants": lambda store: store.put_tenants({"b": TenantConfig()}),
    "change_tenant": lambda store: store.change_tenant("idle", TenantConfig(), TenantConfig(weight=2)),
    "remove_tenant": lambda store: store.remove_tenant("idle"),
    "register": lambda store: store.register("name-w2", "w2", 4),
    "heartbeat": lambda store: store.heartbeat("w1"),
    "drain": lambda store: store.drain("w1"),
    "reap": lambda store: store.reap(),
    "fire": lambda store: store.fire(),
    "set_capacity": lambda store: store.set_capacity(3),
    "pause": lambda store: store.pause(100),
    "admit": lambda store: store.admit(open=False),
    "snapshot": lambda store: store.snapshot(),
}


@pytest.mark.parametrize("command", REPEATABLE)
async def test_every_other_command_does_the_same_three_times_as_once(world: World, cut: Cut, command: str) -> None:
    await world.ready()
    await world.store.put_tenants({"idle": TenantConfig()})
    await world.active(task("t"))
    await REPEATABLE[command](world.store)
    once = await dump_without_events(world)
    await REPEATABLE[command](cut.losing(command))
    assert await dump_without_events(world) == once


async def dump_without_events(world: World) -> Dump:
    """Everything stored, except the traces of a repeated call."""
    found = await dump(world.store)
    found.pop(world.store.keys.events, None)
    pool = found[world.store.keys.pool]
    assert isinstance(pool, dict)
    del pool["events"], pool["event_size"]
    return found
