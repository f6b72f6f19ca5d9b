"""The store's errors and retries when its server is unreachable, full, hung or unsuitable."""

import asyncio
import os
import signal
import socket
from pathlib import Path

import pytest
import redis

from fairlane.audit import check_invariants
from fairlane.clock import SYSTEM_CLOCK
from fairlane.config import PoolConfig, TenantConfig
from fairlane.domain.task import TaskState
from fairlane.errors import StoreUnavailable
from fairlane.store.connection import Endpoint
from fairlane.store.messages import Throttle, Write
from fairlane.store.store import Store
from tests.store.conftest import SOON_MS
from tests.support.store_dump import unchanged
from tests.support.store_raw import command
from tests.support.store_servers import answering, running
from tests.support.store_world import World, settlement, task, tasks


@pytest.mark.parametrize("functions", [True, False], ids=["functions", "scripts"])
async def test_flushed_code_is_not_noticed(own: World, functions: bool) -> None:
    world, flush = own, "FUNCTION" if functions else "SCRIPT"
    world.store.uses_functions = functions
    await world.ready()
    for number in range(3):
        await world.submit(task(f"t{number}"))
        await command(world.store, flush, "FLUSH")
        await world.dispatch()
        await command(world.store, flush, "FLUSH")
        started = await world.start()
        await command(world.store, flush, "FLUSH")
        writes, _ = await world.store.settle_and_start("w1", [settlement(each) for each in started], number + 1)
        assert writes == [Write.DONE]
    assert (await world.pool_view()).live == 0


async def test_a_full_server_refuses_calls_that_grow_it_and_still_ends_tasks(own: World, admin: redis.Redis) -> None:
    await own.ready(throttle_scope="task")
    first, second, third, fourth = await own.active(*tasks(4))
    await own.submit(task("pending"), task("handed"))
    await own.dispatch(1)
    admin.config_set("maxmemory", 1)
    async with unchanged(own.store):
        for growing in (lambda: own.store.submit([task("new")], "c"), own.dispatch):
            with pytest.raises(StoreUnavailable, match="OOM") as caught:
                await growing()
            assert caught.value.outcome_known
    assert (await own.store.heartbeat("w1")).held == 5
    assert [each.ref.id for each in await own.start()][-1] == "pending"
    fence = (await own.pool_view()).fence
    writes, started = await own.store.settle_and_start("w1", [settlement(first)], fence)
    assert (writes, started.alive, started.tasks) == ([Write.DONE], True, ())
    assert (await own.pool_view()).fence == fence
    assert await own.throttle(second, 10) is Write.DONE
    assert await own.release(third) is Write.DONE
    await own.store.cancel([fourth.ref])
    assert await own.store.set_capacity(3) == 3
    await own.store.pause(5)
    await own.store.resume()
    await own.store.drain("w1")
    assert (await own.store.evict("w1")).tasks == 2
    assert (await own.store.reap()).tasks == 0
    admin.config_set("maxmemory", 0)
    assert await own.state(first.ref.id) is TaskState.COMPLETED
    await own.worker("w1")
    own.now += 10
    await own.drain()
    assert (await own.pool_view()).live == 0


async def test_on_a_full_server_events_give_way_first(own: World, admin: redis.Redis) -> None:
    await own.ready()
    events = own.store.keys.events
    with admin.pipeline() as filling:
        for _ in range(3_000):
            filling.execute_command("XADD", events, "*", "filler", bytes(4096))
        filling.execute()
    admin.config_set("maxmemory", admin.info("memory")["used_memory"] - 2**20)
    await own.submit(task("t"))
    assert await own.state("t") is TaskState.PENDING
    assert admin.xlen(events) <= 1_001
    admin.config_set("maxmemory", 0)


@pytest.mark.parametrize("way", ["functions", "scripts"])
async def test_a_scheduler_starts_on_a_full_server_and_can_be_looked_at(
    own: World, admin: redis.Redis, way: str
) -> None:
    await own.ready()
    await own.submit(task("t"))
    await own.pool_view()  # the server knows all functions that follow
    if way == "scripts":
        admin.execute_command("FUNCTION", "FLUSH")
    admin.config_set("maxmemory", 1)
    async with own.another_store() as store:
        await store.put_pool(PoolConfig(slots=3, resume_ramp_ms=0))
        await store.put_tenants({"a": TenantConfig(weight=2), "new": TenantConfig()})
        assert await store.register("again", "w2", 4) > 0
        assert (await store.snapshot()).pool.hard_limit == 3
        assert store.uses_functions is (way == "functions")
        assert await check_invariants(store) == []
    admin.config_set("maxmemory", 0)


async def test_a_call_to_an_unreachable_server_is_known_not_to_have_run() -> None:
    async with Store(Endpoint("unix:///nowhere", call_timeout_ms=SOON_MS), "any") as store:
        with pytest.raises(StoreUnavailable) as caught:
            await store.submit([task("t")], "c")
    assert caught.value.outcome_known


async def test_more_calls_than_connections_wait_for_their_turn(url: str, name: str) -> None:
    world = World(Endpoint(url, connections=2), name)
    async with world.store:
        await world.ready()
        answers = await asyncio.gather(*(world.store.submit([each], "c") for each in tasks(100)))
        assert {answer.status.value for (answer,) in answers} == {"accepted"}
        assert (await world.pool_view()).live == 100


async def test_a_hung_server_is_given_up_in_time_with_an_unknown_outcome(own: World, admin: redis.Redis) -> None:
    await own.ready()
    process = int(admin.info("server")["process_id"])
    os.kill(process, signal.SIGSTOP)
    try:
        started = SYSTEM_CLOCK.monotonic_s()
        with pytest.raises(StoreUnavailable) as caught:
            await own.store.submit([task("t")], "c")
        took_ms = (SYSTEM_CLOCK.monotonic_s() - started) * 1000
    finally:
        os.kill(process, signal.SIGCONT)
    assert not caught.value.outcome_known
    assert SOON_MS * 0.9 <= took_ms < SOON_MS + 1000
    (answer,) = await own.store.submit([task("t")], "c")  # the server is back, and may have run the call
    assert answer.status.value in {"accepted", "existing"}
    assert (await own.pool_view()).live == 1


async def test_an_answer_that_never_comes_after_a_refusal_is_an_unknown_outcome(tmp_path: Path) -> None:
    refusals = iter([b"-LOADING the dataset\r\n"])

    def answer(command: bytes) -> bytes:
        return next(refusals, b"") if b"FCALL" in command else b"+OK\r\n"

    async with (
        answering(tmp_path / "x", answer) as url,
        Store(Endpoint(url, call_timeout_ms=SOON_MS), "any") as store,
    ):
        with pytest.raises(StoreUnavailable) as caught:
            await store.submit([task("t")], "c")
    assert next(refusals, None) is None
    assert not caught.value.outcome_known


async def test_a_refusal_that_lasts_is_a_known_outcome(own: World, admin: redis.Redis) -> None:
    await own.ready()
    admin.config_set("min-replicas-to-write", 1)
    with pytest.raises(StoreUnavailable, match="NOREPLICAS") as caught:
        await own.store.submit([task("t")], "c")
    assert caught.value.outcome_known


async def test_a_server_that_became_a_replica_runs_no_write(own: World, admin: redis.Redis) -> None:
    await own.ready()
    admin.replicaof("127.0.0.1", 1)
    with pytest.raises(StoreUnavailable, match="READONLY") as caught:
        await own.store.submit([task("t")], "c")
    assert caught.value.outcome_known


async def test_a_server_with_too_many_clients_runs_nothing(own: World, admin: redis.Redis) -> None:
    """It answers and disconnects; on a busy machine only the disconnection may arrive."""
    admin.config_set("maxclients", 1)
    with pytest.raises(StoreUnavailable, match=r"max number of clients|[Cc]onnection") as caught:
        await own.pool()
    assert caught.value.outcome_known
    admin.config_set("maxclients", 100)
    await own.pool()


async def test_a_server_busy_with_another_script_is_waited_for(own: World, admin: redis.Redis, url: str) -> None:
    await own.ready()
    admin.config_set("busy-reply-threshold", 1)
    with redis.Redis.from_url(url) as other:
        spinning = asyncio.ensure_future(asyncio.to_thread(_spin, other))
        await _until_busy(admin)
        with pytest.raises(StoreUnavailable, match="BUSY") as caught:
            await own.store.submit([task("t")], "c")
        assert caught.value.outcome_known
        waiting = asyncio.create_task(own.store.submit([task("t")], "c"))
        admin.script_kill()
        (answer,) = await waiting
        assert answer.status.value == "accepted"
        await spinning


async def _until_busy(admin: redis.Redis) -> None:
    try:
        while True:
            await asyncio.to_thread(admin.ping)
    except redis.ResponseError as error:
        assert "BUSY" in str(error)  # noqa: PT017 - any other refusal is a failure


def _spin(client: redis.Redis) -> None:
    with pytest.raises(redis.ResponseError):
        client.eval("while true do end", 0)


async def test_a_server_that_comes_back_in_time_is_not_noticed(tmp_path: Path, name: str) -> None:
    world = World(Endpoint(f"unix://{tmp_path / 's'}"), name)
    async with world.store:
        putting = asyncio.create_task(world.pool())
        await asyncio.sleep(0)
        with running(tmp_path):
            await putting
            assert (await world.pool_view()).live == 0


async def test_a_connection_cut_while_idle_is_not_noticed(own: World, admin: redis.Redis) -> None:
    await own.ready()
    admin.client_kill_filter(_type="normal", skipme=True)
    await own.submit(task("t"))
    assert (await own.dispatch()).placed == 1


async def test_a_wait_on_a_server_that_goes_away_says_so(own: World, admin: redis.Redis) -> None:
    await own.ready()
    waiting = asyncio.create_task(own.store.wait("dispatcher-of-nobody", 10))
    while int((await own.store.info("clients"))["blocked_clients"]) < 1:
        await asyncio.sleep(0)
    admin.client_kill_filter(_type="normal", skipme=True)
    with pytest.raises(StoreUnavailable):
        await waiting


async def test_cancelling_a_call_leaves_the_store_usable(own: World) -> None:
    await own.ready()
    for number in range(30):
        call = asyncio.create_task(own.store.submit([task(f"t{number}")], "c"))
        for _ in range(number % 5):
            await asyncio.sleep(0)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
    started = await own.active(task("last"))
    assert started
    assert await own.store.throttle("w1", [Throttle(started[-1].ref, started[-1].fence, 0)]) == [Write.DONE]


async def test_a_client_that_was_never_admitted_knows_that_nothing_ran(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "s"))
        silent.listen()
        async with World(Endpoint(f"unix://{tmp_path / 's'}", call_timeout_ms=50), "silent").store as store:
            with pytest.raises(StoreUnavailable, match="no connection within 50 ms") as caught:
                await store.pause(1_000)
            assert caught.value.outcome_known
