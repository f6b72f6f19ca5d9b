"""How a task's end reaches its caller."""

import asyncio
from typing import Any

import pytest

from fairlane.config import PoolConfig
from fairlane.domain.task import TaskState
from fairlane.errors import ResultTimeout, StoreUnavailable, TaskFailed, TaskLost
from fairlane.lifecycle.handle import TaskHandle
from fairlane.lifecycle.submission import TaskSpec
from fairlane.providers.base import Call, Reply
from fairlane.providers.simulated import SimulatedProvider
from fairlane.store.task_codec import task_record
from tests.lifecycle.harness import Gate, Harness
from tests.support.store_packed import poke
from tests.support.store_raw import command


class Units:
    """An integer of another library."""

    def __init__(self, value: int) -> None:
        self._value = value

    def __index__(self) -> int:
        return self._value


class Returns:
    """A provider that returns a given value."""

    def __init__(self, reply: object) -> None:
        self.reply = reply
        self.calls = 0

    async def call(self, call: Call) -> Reply:
        self.calls += 1
        return self.reply  # type: ignore[return-value] - the point of some tests


async def test_a_failed_task_is_retried_and_succeeds(pool: Harness) -> None:
    await pool.put()
    await pool.dispatcher()
    await pool.worker(SimulatedProvider())
    client = await pool.client()
    handle = await client.submit("acme", {"fail": 2, "echo": "third time"}, cost=5)
    assert await handle.result(10) == "third time"
    view = await client.get("acme", handle.ref.id)
    assert view is not None
    assert (view.failures, view.recoveries, view.throttles) == (2, 0, 0)


async def test_the_last_allowed_failure_ends_the_task_with_the_last_error(pool: Harness) -> None:
    await pool.put(PoolConfig(max_attempts=3))
    await pool.dispatcher()
    await pool.worker(SimulatedProvider())
    client = await pool.client()
    handle = await client.submit("acme", {"fail": 99}, cost=5)
    with pytest.raises(TaskFailed, match="simulated failure of attempt 3") as caught:
        await handle.result(10)
    assert caught.value.context["error_code"] == "provider_failed"
    assert await handle.state() is TaskState.FAILED
    await pool.assert_nothing_held()


async def test_a_refused_task_is_not_retried(pool: Harness) -> None:
    await pool.put()
    await pool.dispatcher()
    await pool.worker(SimulatedProvider())
    client = await pool.client()
    handle = await client.submit("acme", {"refuse": True}, cost=5)
    with pytest.raises(TaskFailed) as caught:
        await handle.result(10)
    assert caught.value.context["error_code"] == "provider_refused"
    assert caught.value.context["failures"] == 0


@pytest.mark.parametrize(
    ("reply", "settings", "code", "actual"),
    [
        (Reply(b"x" * 100, 3), {"max_result_bytes": 100}, "result_too_large", 3),
        (Reply({1, 2}, 3), {}, "invalid_result", 3),
        ("no reply at all", {}, "invalid_reply", 0),
    ],
)
async def test_a_reply_that_cannot_be_used_fails_the_task_and_nothing_crashes(
    pool: Harness, reply: object, settings: dict[str, int], code: str, actual: int
) -> None:
    await pool.put(PoolConfig(max_attempts=1))
    await pool.dispatcher()
    await pool.worker(Returns(reply), **settings)
    client = await pool.client()
    handle = await client.submit("acme", {}, cost=400)
    with pytest.raises(TaskFailed) as caught:
        await handle.result(10)
    assert caught.value.context["error_code"] == code
    view = await client.get("acme", handle.ref.id)
    assert view is not None
    assert view.actual == actual
    await pool.assert_nothing_held()


@pytest.mark.parametrize(
    ("reported", "settled"), [(None, 400), (0, 0), (7, 7), (900, 900), (12.0, 12), (Units(12), 12)]
)
async def test_usage_is_settled_as_reported_or_at_the_estimate(pool: Harness, reported: Any, settled: int) -> None:
    await pool.put()
    await pool.dispatcher()
    await pool.worker(Returns(Reply(None, reported)))
    client = await pool.client()
    handle = await client.submit("acme", {}, cost=400)
    await handle.result(10)
    view = await client.get("acme", handle.ref.id)
    assert view is not None
    assert view.actual == settled


@pytest.mark.parametrize("nonsense", [-1, 1.5, float("nan"), "12", True, 2**40 + 1, 10**400, [], Units(-1)])
async def test_a_paid_result_is_kept_whatever_usage_it_reports(pool: Harness, nonsense: Any) -> None:
    await pool.put()
    await pool.dispatcher()
    provider = Returns(Reply("paid", nonsense))
    await pool.worker(provider)
    client = await pool.client()
    handle = await client.submit("acme", {}, cost=400)
    assert await handle.result(10) == "paid"
    view = await client.get("acme", handle.ref.id)
    assert view is not None
    assert (view.actual, view.error_code, provider.calls) == (400, "usage_unknown", 1)


async def test_secrets_in_an_error_are_not_kept(pool: Harness) -> None:
    class Leaky:
        async def call(self, call: Call) -> Reply:
            raise RuntimeError("401 for Authorization: Bearer canary-1 at https://me:canary-2@host, api_key=canary-3")

    await pool.put(PoolConfig(max_attempts=1))
    await pool.dispatcher()
    await pool.worker(Leaky())
    client = await pool.client()
    handle = await client.submit("acme", {}, cost=1)
    with pytest.raises(TaskFailed) as caught:
        await handle.result(10)
    assert "RuntimeError: 401" in caught.value.message
    assert "canary" not in caught.value.message


async def test_a_wait_that_times_out_does_not_affect_the_task(pool: Harness) -> None:
    await pool.put()
    await pool.dispatcher()
    gate = Gate()
    await pool.worker(gate)
    client = await pool.client()
    handle = await client.submit("acme", {}, cost=1)
    await gate.begun()
    with pytest.raises(ResultTimeout):
        await handle.result(0.02)
    gate.open_to.set()
    assert await handle.result(10) == handle.ref.id


async def test_one_waiter_may_leave_without_disturbing_another(pool: Harness) -> None:
    await pool.put()
    await pool.dispatcher()
    gate = Gate()
    await pool.worker(gate)
    client = await pool.client()
    handle = await client.submit("acme", {}, cost=1)
    stays, leaves = asyncio.create_task(handle.result(10)), asyncio.create_task(handle.result(10))
    await gate.begun()
    leaves.cancel()
    await asyncio.gather(leaves, return_exceptions=True)
    gate.open_to.set()
    assert await stays == handle.ref.id


async def test_wait_many_returns_losses_as_values_in_order(pool: Harness) -> None:
    await pool.put(PoolConfig(max_attempts=1))
    await pool.dispatcher()
    await pool.worker(SimulatedProvider())
    client = await pool.client()
    answers = await client.submit_many(TaskSpec("acme", {"echo": n} if n % 2 else {"fail": 1}, 1) for n in range(10))
    outcomes = await client.wait_many([a for a in answers if isinstance(a, TaskHandle)], 10)
    assert [type(outcome) is TaskFailed for outcome in outcomes] == [n % 2 == 0 for n in range(10)]
    assert outcomes[1::2] == [1, 3, 5, 7, 9]


async def test_a_client_that_restarts_finds_its_tasks_by_id(pool: Harness) -> None:
    await pool.put()
    first = await pool.client()
    specs = [TaskSpec("acme", {"echo": n}, 1, task_id=f"t{n}") for n in range(20)]
    await first.submit_many(specs[:10])
    await first.close()
    await pool.dispatcher()
    worker = await pool.worker(SimulatedProvider())
    second = await pool.client()
    answers = await second.submit_many(specs)
    handles = [answer for answer in answers if isinstance(answer, TaskHandle)]
    assert await second.wait_many(handles, 10) == list(range(20))
    await worker.stop()
    third = await pool.client()
    again = await third.submit("acme", {"echo": 3}, cost=1, task_id="t3")
    assert await again.result(10) == 3
    view = await third.get("acme", "t4")
    assert view is not None
    assert view.state is TaskState.COMPLETED
    assert await third.get("acme", "never-heard-of") is None


async def test_an_end_without_a_notice_is_still_found(pool: Harness) -> None:
    await pool.put()
    await pool.dispatcher()
    gate = Gate()
    await pool.worker(gate)
    client = await pool.client()
    handles = [await client.submit("acme", {}, cost=1) for _ in range(3)]
    for _ in handles:
        await gate.begun()
    # As if the notices were lost: they go to another client.
    for handle in handles:
        await poke(pool.store, "task", "acme", handle.ref.id, client="somebody")
    gate.open_to.set()
    assert await client.wait_many(handles, 10) == [handle.ref.id for handle in handles]


async def test_a_task_whose_record_is_gone_ends_its_wait(pool: Harness) -> None:
    await pool.put()
    client = await pool.client()
    handle = await client.submit("acme", {}, cost=1)
    await command(pool.store, "DEL", pool.store.keys.key("task", "acme", handle.ref.id))
    with pytest.raises(TaskLost, match="unknown to the store"):
        await handle.result(10)


async def test_a_task_whose_store_was_emptied_ends_its_wait(pool: Harness) -> None:
    await pool.put()
    client = await pool.client()
    handle = await client.submit("acme", {}, cost=1)
    await command(pool.store, "FLUSHALL")
    with pytest.raises(TaskLost, match="unknown to the store"):
        await handle.result(10)


async def test_closing_the_client_ends_its_waits(pool: Harness) -> None:
    await pool.put()
    client = await pool.client()
    handle = await client.submit("acme", {}, cost=1)
    wait = asyncio.create_task(handle.result())
    await asyncio.sleep(0)
    await client.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        await wait


async def test_an_unreadable_payload_fails_only_its_task(pool: Harness) -> None:
    await pool.put()
    client = await pool.client()
    broken = await client.submit("acme", {}, cost=1)
    fine = await client.submit("acme", {"echo": "fine"}, cost=1)
    key = pool.store.keys.key("task", "acme", broken.ref.id)
    record = await command(pool.store, "GET", key)
    await command(pool.store, "SET", key, record.removesuffix(task_record(record).body) + b"\x80pickle")
    await pool.dispatcher()
    await pool.worker(SimulatedProvider())
    with pytest.raises(TaskFailed) as caught:
        await broken.result(10)
    assert caught.value.context["error_code"] == "undecodable_payload"
    assert await fine.result(10) == "fine"
