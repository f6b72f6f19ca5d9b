"""The journal logs each end of a task and each change of the capacity once, from `begin` on."""

import asyncio
import logging

import pytest

from fairlane.cli.journal import Journal
from fairlane.domain.attempt import Outcome
from fairlane.store.connection import Endpoint
from fairlane.store.store import Store
from tests.support.store_raw import command
from tests.support.store_world import World, task, tasks


@pytest.fixture
async def world(store: Store, endpoint: Endpoint, name: str) -> World:
    world = World(endpoint, name)
    world.store = store
    return world


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.DEBUG, "fairlane.cli.journal")
    return caplog


def records(logged: pytest.LogCaptureFixture, level: int = logging.INFO) -> list[str]:
    return [record.getMessage() for record in logged.records if record.levelno == level]


async def test_each_end_is_logged_with_its_attempt(world: World, logged: pytest.LogCaptureFixture) -> None:
    await world.ready(max_attempts=2)
    journal = Journal(world.store)
    await journal.begin()
    first, second = await world.active(*tasks(2))
    await world.settle(first, actual=130)
    await world.settle(second, Outcome.FAILED, actual=7, backoff_ms=0)
    await world.submit(task("gone"))
    await world.store.cancel([task("gone").ref])
    await world.dispatch()
    (again,) = await world.start(cursor=second.fence)
    await world.settle(again, Outcome.FAILED, actual=0)
    await journal.finish()
    assert records(logged) == [
        "task a:t00000 completed: attempt 1 completed, 130 units",
        "task a:gone cancelled: it was waiting",
        "task a:t00001 failed: attempt 3 failed, 0 units",
    ]
    assert records(logged, logging.DEBUG) == ["task a:t00001 pending: attempt 2 failed, 7 units"]


async def test_earlier_events_are_not_logged_and_none_is_logged_twice(
    world: World, logged: pytest.LogCaptureFixture
) -> None:
    await world.ready()
    first, second = await world.active(*tasks(2))
    await world.settle(first)
    journal = Journal(world.store)
    await journal.begin()
    await world.settle(second)
    await journal.finish()
    await journal.finish()
    assert records(logged) == ["task a:t00001 completed: attempt 2 completed, 100 units"]


async def test_a_changed_capacity_is_logged(world: World, logged: pytest.LogCaptureFixture) -> None:
    journal = Journal(world.store)
    await journal.begin()
    await world.pool(slots=64)
    await world.store.set_capacity(16)
    await journal.finish()
    assert records(logged) == ["capacity 0 -> 64: set", "capacity 64 -> 16: set"]


async def test_it_logs_events_as_they_come(world: World, logged: pytest.LogCaptureFixture) -> None:
    await world.ready()
    journal = Journal(world.store)
    await journal.begin()
    seen = asyncio.Event()

    class Watch(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.levelno == logging.INFO:
                seen.set()

    watch = Watch()
    logging.getLogger("fairlane.cli.journal").addHandler(watch)
    following = asyncio.create_task(journal.follow())
    try:
        (started,) = await world.active(task("t"))
        await world.settle(started)
        await asyncio.wait_for(seen.wait(), 30)
    finally:
        logging.getLogger("fairlane.cli.journal").removeHandler(watch)
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
    await journal.finish()
    assert records(logged) == ["task a:t completed: attempt 1 completed, 100 units"]


async def test_dropped_events_are_logged(world: World, logged: pytest.LogCaptureFixture) -> None:
    await world.ready()
    journal = Journal(world.store)
    await journal.begin()
    (first,) = await world.active(task("t"))
    await world.settle(first)
    await journal.finish()
    for number in range(3):
        await world.submit(task(f"u{number}"))
    await command(world.store, "XTRIM", world.store.keys.events, "MAXLEN", 1)
    await journal.finish()
    assert records(logged, logging.WARNING) == ["2 events were dropped from the stream before they were read"]
