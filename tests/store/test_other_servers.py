"""Every script on the oldest supported server, and in a cluster, which refuses keys of another slot."""

from collections.abc import AsyncIterator, Iterator

import pytest
import redis

from fairlane.audit import check_invariants
from fairlane.config import BudgetConfig, ControllerConfig, TenantConfig, WindowConfig
from fairlane.domain.attempt import Outcome
from fairlane.domain.policy import CapacityReason
from fairlane.domain.task import TaskRef, TaskState
from fairlane.store import scripts
from fairlane.store.connection import Endpoint
from fairlane.store.messages import CancelStatus, SubmitStatus, Write
from tests.support.store_raw import command
from tests.support.store_servers import REDIS_6_2, one_node_cluster, running
from tests.support.store_world import World, settlement, task, tasks

pytestmark = pytest.mark.parametrize("kind", ["valkey", "redis-6.2", "cluster"], scope="module")


@pytest.fixture(scope="module")
def url(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of this kind."""
    directory = tmp_path_factory.mktemp("server")
    if kind == "cluster":
        with one_node_cluster(directory) as url:
            yield url
    else:
        with running(directory, binary=REDIS_6_2 if kind == "redis-6.2" else None) as url:
            yield url


@pytest.fixture
async def foreign(url: str, name: str) -> AsyncIterator[World]:
    """A world on that server."""
    world = World(Endpoint(url), name)
    async with world.store:
        yield world
        assert await check_invariants(world.store) == []


async def test_the_server_is_of_the_expected_kind(url: str, kind: str, foreign: World) -> None:
    await foreign.store.check()
    info = await foreign.store.info("server")
    assert info["redis_version"].startswith("6.2." if kind == "redis-6.2" else "7.2.")
    cluster = await foreign.store.info("cluster")
    assert cluster["cluster_enabled"] == ("1" if kind == "cluster" else "0")
    await foreign.pool()
    assert foreign.store.uses_functions == (kind != "redis-6.2")
    if kind == "redis-6.2":
        assert await command(foreign.store, "SCRIPT", "EXISTS", scripts.digest("put_pool")) == [1]
    else:
        assert await command(foreign.store, "FUNCTION", "LIST", "LIBRARYNAME", scripts.function("put_pool"))


async def test_in_the_cluster_a_foreign_slot_is_refused(url: str, kind: str, foreign: World) -> None:
    with redis.Redis.from_url(url) as client:
        reach = client.register_script("#!lua\nreturn redis.call('SET', 'elsewhere', 1)")
        if kind == "cluster":
            with pytest.raises(redis.ResponseError, match="slot"):
                reach(keys=[foreign.store.keys.pool])
    await foreign.pool()


async def _spends_and_tops_up(foreign: World) -> None:
    """A tenant with a budget and windows runs one task, and is parked until more is added."""
    window = WindowConfig(limit=100, interval_ms=1)
    await foreign.tenant("m", budget=BudgetConfig(limit_units=100, period_ms=1000), starts=window, spend=window)
    (first,) = await foreign.active(task("m1", tenant="m"))
    await foreign.submit(task("m2", tenant="m"))
    assert (await foreign.dispatch()).placed == 0
    assert await foreign.settle(first) is Write.DONE
    foreign.now += 1
    assert await foreign.store.top_up("m", 100, "more") == 200
    assert (await foreign.dispatch()).placed == 1
    (second,) = await foreign.start()
    assert await foreign.settle(second) is Write.DONE
    ledger = await foreign.store.ledger("m")
    assert ledger is not None
    assert (ledger.limit, ledger.held, ledger.spent, ledger.remaining) == (200, 0, 200, 0)


async def test_every_command_runs(url: str, kind: str, foreign: World) -> None:
    store = foreign.store
    await foreign.ready(tenant={"slots": 8}, lease_ms=1000, quantum_units=100)
    await store.put_tenants({"b": TenantConfig(weight=2), "gone": TenantConfig()})
    assert await store.change_tenant("b", TenantConfig(weight=2), TenantConfig(weight=3))
    assert await store.remove_tenant("gone")
    await _spends_and_tops_up(foreign)
    await store.admit(open=False)
    assert (await store.submit([task("no")], "c"))[0].status is SubmitStatus.CLOSED
    await store.admit(open=True)
    await foreign.submit(*tasks(20, named_by_caller=True), *tasks(20, tenant="b", deadline_ms=50_000))
    assert (await foreign.dispatch(12)).placed == 12
    started = await foreign.start()
    assert len(started) == 12
    writes, _ = await store.settle_and_start("w1", [settlement(started[0], actual=60)], started[-1].fence)
    assert writes == [Write.DONE]
    assert await foreign.settle(started[6], actual=60, result=b"j1") is Write.DONE
    assert await foreign.settle(started[1], Outcome.FAILED, backoff_ms=100) is Write.DONE
    assert await foreign.settle(started[2], Outcome.REFUSED) is Write.DONE
    assert await foreign.throttle(started[3], 50) is Write.DONE
    assert await foreign.release(started[4]) is Write.DONE
    waiting, running_ = TaskRef("a", "t00019"), started[5].ref
    assert await store.cancel([waiting, running_]) == [CancelStatus.CANCELLED, CancelStatus.STOPPING]
    assert (await store.heartbeat("w1")).cancelling == ((running_, started[5].fence),)
    foreign.now += 100
    assert (await store.adapt(ControllerConfig())).reason is CapacityReason.DECREASED
    assert await store.set_capacity(40) == 40
    await store.pause(10)
    await store.resume()
    await foreign.worker("w2")
    assert (await foreign.dispatch(64, "w2")).placed > 0
    assert await store.drain("w2")
    assert (await store.evict("w2")).incarnations == ("w2",)
    await foreign.submit(task("late", deadline_ms=100))
    foreign.now += 400
    assert await store.fire() == 1
    await store.reap()
    foreign.now += 5_000
    await store.reap()
    for _ in range(8):
        foreign.now += 250
        await store.reap()
    assert await store.workers() == []
    await foreign.worker("w1")
    await foreign.drain()
    ended = await store.collect("c", "0", limit=64)
    assert len(ended.tasks) == 43
    ends = {TaskState.COMPLETED, TaskState.FAILED, TaskState.CANCELLED, TaskState.EXPIRED}
    assert {view.state for view in ended.tasks} == ends
    assert (await foreign.pool_view()).live == 0
    by = {event.by for event in await foreign.events()}
    assert by == set(scripts.COMMANDS) - {"snapshot", "heartbeat", "admit", "ledger"}
