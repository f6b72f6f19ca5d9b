"""The event stream has no gap; a bell wakes its sleeper, and a missed bell costs only time."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from fairlane.domain.attempt import Outcome
from fairlane.store.keys import DISPATCHER_BELL, client_bell, worker_bell
from tests.support.store_raw import command
from tests.support.store_world import World, task, tasks

LONG_S = 10.0


async def test_one_entry_per_changing_call_numbered_without_a_gap(world: World) -> None:
    await world.ready()
    await world.submit(*tasks(10))
    await world.dispatch(5)
    for started in await world.start():
        await world.settle(started, Outcome.FAILED if started.fence % 2 else Outcome.COMPLETED)
    await world.store.heartbeat("w1")
    await world.store.reap()
    await world.drain()
    events = await world.events()  # checks the numbers
    assert [event.by for event in events[:5]] == ["put_pool", "put_tenants", "register", "submit", "dispatch"]
    assert (await world.pool_view()).events == len(events)


async def test_refusals_and_idle_calls_write_no_event(world: World) -> None:
    await world.ready()
    before = await world.events()
    await world.store.submit([task("t", tenant="nobody")], "c")
    await world.dispatch()
    await world.start()
    await world.store.heartbeat("w1")
    await world.store.reap()
    await world.store.snapshot()
    await world.store.evict("stranger")
    assert await world.events() == before


async def test_the_stream_is_read_in_pages_and_can_be_waited_on(world: World) -> None:
    await world.ready()
    first = await world.store.events(limit=2)
    assert [event.number for event in first] == [1, 2]
    last = (await world.events())[-1]
    assert await world.store.events(last.stream_id) == []
    assert await world.store.events(last.stream_id, block_ms=1) == []
    waiting = asyncio.ensure_future(world.store.events(last.stream_id, block_ms=10_000))
    await blocked(world, 1)
    await world.submit(task("t"))
    (event,) = await asyncio.wait_for(waiting, LONG_S)
    assert (event.number, event.by) == (last.number + 1, "submit")


async def test_events_can_be_switched_off(world: World) -> None:
    await world.ready(event_limit=0)
    await world.submit(task("t"))
    await world.drain()
    assert await world.key_type("events") == "none"
    assert (await world.pool_view()).events == 0


async def test_the_stream_s_length_is_bounded(world: World) -> None:
    await world.ready(event_limit=10)
    for number in range(400):
        await world.store.set_capacity(1 + number % 7)
    # The server trims whole nodes: about, not exactly.
    assert await command(world.store, "XLEN", world.store.keys.events) < 250
    (first, *_) = await world.store.events(limit=1)
    assert first.number > 1


async def test_the_stream_s_bytes_are_bounded_too(world: World) -> None:
    bound = 2**17
    await world.ready(event_bytes=bound)
    for first in range(0, 256 * 60, 256):
        await world.submit(*tasks(256, first=first))  # an entry of some 10 kB
    entries = await command(world.store, "XRANGE", world.store.keys.events, "-", "+")
    written = [len(fields[-1]) for _, fields in entries]
    assert written[-1] > 5_000
    assert bound / 4 < sum(written) <= 2 * bound
    for number in range(3_000):  # small ones: more of them fit
        await world.store.set_capacity(1 + number % 7)
    entries = await command(world.store, "XRANGE", world.store.keys.events, "-", "+")
    assert len(entries) > 500
    assert sum(len(fields[-1]) for _, fields in entries) <= 2 * bound


async def blocked(world: World, clients: int) -> None:
    """Wait until this many of the world's connections block at the server."""
    while int((await world.store.info("clients"))["blocked_clients"]) < clients:
        await asyncio.sleep(0)


async def silence(world: World, sleeper: str = DISPATCHER_BELL) -> None:
    """Remove the bells that were rung before the test listens."""
    await command(world.store, "DEL", world.store.keys.bell(sleeper))


@pytest.fixture
async def sleeping(world: World) -> AsyncIterator[asyncio.Task[bool]]:
    """The dispatcher, asleep until something can be placed."""
    await world.ready()
    await silence(world)
    task_ = asyncio.create_task(world.store.wait(DISPATCHER_BELL, LONG_S))
    await blocked(world, 1)
    yield task_
    task_.cancel()


async def test_a_submission_wakes_the_dispatcher(world: World, sleeping: asyncio.Task[bool]) -> None:
    await world.submit(task("t"))
    assert await asyncio.wait_for(sleeping, LONG_S)


async def test_a_task_that_cannot_be_placed_wakes_no_process(world: World) -> None:
    await world.ready()
    await world.store.pause(10_000)
    await silence(world)
    await world.submit(task("t"))
    assert await command(world.store, "LLEN", world.store.keys.bell(DISPATCHER_BELL)) == 0
    await world.store.resume()
    assert await world.store.wait(DISPATCHER_BELL, LONG_S)


async def test_a_placement_wakes_its_worker_and_an_end_wakes_its_client(world: World) -> None:
    await world.ready()
    worker = asyncio.create_task(world.store.wait(worker_bell("w1"), LONG_S))
    client = asyncio.create_task(world.store.wait(client_bell("c"), LONG_S))
    await blocked(world, 2)
    await world.submit(task("t"))
    await world.dispatch()
    assert await asyncio.wait_for(worker, LONG_S)
    (started,) = await world.start()
    assert not client.done()
    await world.settle(started)
    assert await asyncio.wait_for(client, LONG_S)


@pytest.mark.parametrize("what", ["settle", "set_capacity", "resume", "register", "put_pool"])
async def test_every_change_that_may_let_a_task_start_rings_the_dispatcher(world: World, what: str) -> None:
    await world.pool(slots=1)
    await world.tenant()
    await world.worker()
    (started,) = await world.active(task("r"))
    await world.submit(task("t"))
    if what in {"resume", "register"}:
        await world.pool(slots=2)
        if what == "resume":
            await world.store.pause(9999)
    elif what == "set_capacity":
        await world.pool(slots=5)
        await world.store.set_capacity(1)
    await silence(world)
    match what:
        case "settle":
            await world.settle(started)
        case "set_capacity":
            await world.store.set_capacity(2)
        case "resume":
            await world.store.resume()
        case "register":
            await world.worker("w2")
        case _:
            await world.pool(slots=2)
    assert await world.store.wait(DISPATCHER_BELL, LONG_S)


async def test_a_cancel_of_a_running_task_wakes_its_worker(world: World) -> None:
    await world.ready()
    (started,) = await world.active(task("t"))
    await silence(world, worker_bell("w1"))
    await world.store.cancel([started.ref])
    assert await world.store.wait(worker_bell("w1"), LONG_S)


async def test_a_bell_rung_while_nobody_waited_is_heard_later(world: World) -> None:
    await world.ready()
    await world.submit(task("t"))
    assert await world.store.wait(DISPATCHER_BELL, LONG_S)


async def test_a_wait_that_timed_out_loses_no_ring(world: World) -> None:
    await world.ready()
    await silence(world)
    assert not await world.store.wait(DISPATCHER_BELL, 0.001)
    await world.submit(task("t"))  # rings between two waits
    assert await world.store.wait(DISPATCHER_BELL, LONG_S)


async def test_a_cancelled_wait_loses_no_ring(world: World) -> None:
    await world.ready()
    await silence(world)
    waiting = asyncio.create_task(world.store.wait(DISPATCHER_BELL, LONG_S))
    await blocked(world, 1)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await world.submit(task("t"))
    assert await world.store.wait(DISPATCHER_BELL, LONG_S)


async def test_many_rings_are_one(world: World) -> None:
    await world.ready()
    for each in tasks(5):
        await world.submit(each)
    assert await command(world.store, "LLEN", world.store.keys.bell(DISPATCHER_BELL)) == 1
