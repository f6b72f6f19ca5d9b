"""How long a task is known, and the answers that its caller gets afterwards: the table of the readme."""

import pytest

from fairlane.config import PoolConfig
from fairlane.domain.task import TaskState
from fairlane.errors import IdempotencyConflict, TaskLost
from fairlane.lifecycle.client import Client
from fairlane.lifecycle.handle import TaskHandle
from fairlane.providers.base import Call, Reply
from fairlane.store.messages import CancelStatus
from tests.lifecycle.harness import Harness
from tests.support.store_raw import command

TASK = {"payload": "once", "cost": 5, "task_id": "order-7"}
PAST_RETENTION = ("task",)
"""The keys that have expired after the retention. The tombstone expires later."""
PAST_ALL = ("task", "tombstone")


class Counts:
    """A provider that counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    async def call(self, call: Call) -> Reply:
        self.calls += 1
        return Reply(self.calls)


async def _ended(pool: Harness, provider: Counts) -> TaskHandle:
    await pool.put(PoolConfig(lease_ms=2_000))
    await pool.dispatcher()
    await pool.worker(provider)
    client = await pool.client()
    handle = await client.submit("acme", **TASK)
    assert await handle.result(10) == 1
    return handle


async def _pass(pool: Harness, keys: tuple[str, ...]) -> Client:
    """Delete the keys that would have expired; return a client that has not seen the task."""
    for key in keys:
        assert await command(pool.store, "DEL", pool.store.keys.key(key, "acme", "order-7")) == 1
    return await pool.client()


async def test_within_the_retention_the_same_task_is_found_with_its_result(pool: Harness) -> None:
    provider = Counts()
    await _ended(pool, provider)
    again = await (await _pass(pool, ())).submit("acme", **TASK)
    assert await again.state() is TaskState.COMPLETED
    assert (await again.result(10), provider.calls) == (1, 1)


async def test_past_the_retention_the_id_is_known_and_its_result_is_not(pool: Harness) -> None:
    provider = Counts()
    await _ended(pool, provider)
    client = await _pass(pool, PAST_RETENTION)
    again = await client.submit("acme", **TASK)
    assert await again.state() is None
    with pytest.raises(TaskLost, match="unknown to the store") as caught:
        await again.result(10)
    assert (type(caught.value), caught.value.error_code) == (TaskLost, "")
    assert await again.cancel() is CancelStatus.ENDED
    with pytest.raises(IdempotencyConflict):
        await client.submit("acme", **{**TASK, "payload": "another"})
    assert provider.calls == 1


async def test_past_both_times_the_same_id_is_a_new_task(pool: Harness) -> None:
    provider = Counts()
    await _ended(pool, provider)
    client = await _pass(pool, PAST_ALL)
    assert await client.get("acme", "order-7") is None
    again = await client.submit("acme", **TASK)
    assert (await again.result(10), provider.calls) == (2, 2)


async def test_a_handle_that_has_seen_the_end_keeps_it(pool: Harness) -> None:
    handle = await _ended(pool, Counts())
    await _pass(pool, PAST_ALL)
    assert await handle.result() == 1
    assert await handle.state() is TaskState.COMPLETED


async def test_an_id_made_by_fairlane_is_known_only_for_the_retention(pool: Harness) -> None:
    await pool.put()
    await pool.dispatcher()
    await pool.worker(Counts())
    client = await pool.client()
    handle = await client.submit("acme", "once", cost=5)
    await handle.result(10)
    assert await command(pool.store, "EXISTS", pool.store.keys.key("tombstone", "acme", handle.ref.id)) == 0
