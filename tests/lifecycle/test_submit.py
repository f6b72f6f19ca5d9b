"""The tasks that a caller may submit, and the promises of the answer."""

import asyncio
import math
from collections.abc import Sequence

import pytest

from fairlane.config import PoolConfig, TenantConfig
from fairlane.domain.task import TaskState
from fairlane.errors import (
    AdmissionClosed,
    CostAboveCeiling,
    IdempotencyConflict,
    InvalidTask,
    QueueFull,
    StoreUnavailable,
    UnknownTenant,
)
from fairlane.lifecycle.client import Client
from fairlane.lifecycle.handle import TaskHandle
from fairlane.lifecycle.submission import TaskSpec
from fairlane.providers.simulated import SimulatedProvider
from fairlane.store.connection import Endpoint
from fairlane.store.messages import Submission, Submitted
from fairlane.store.store import Store
from tests.lifecycle.harness import Harness


@pytest.mark.parametrize("payload", [{"echo": {"deep": [1, "ü", None]}}, {}, None, [1, 2], "text", b"\x00\xff"])
async def test_a_submitted_task_brings_its_result(pool: Harness, payload: object) -> None:
    await pool.put()
    await pool.dispatcher()
    await pool.worker(SimulatedProvider())
    client = await pool.client()
    handle = await client.submit("acme", payload, cost=400)
    expected = payload.get("echo") if isinstance(payload, dict) else None
    assert await handle.result(timeout_s=10) == expected
    assert await handle.state() is TaskState.COMPLETED
    await pool.assert_nothing_held()


async def test_the_same_id_twice_is_the_same_task(pool: Harness) -> None:
    await pool.put()
    client = await pool.client()
    first = await client.submit("acme", {"b": 1, "a": 2}, cost=5, task_id="order-7")
    second = await client.submit("acme", {"a": 2, "b": 1}, cost=5, task_id="order-7")
    assert first.ref == second.ref
    assert (await pool.store.snapshot()).pool.live == 1
    await pool.dispatcher()
    await pool.worker(SimulatedProvider())
    assert await client.wait_many([first, second], 10) == [None, None]


@pytest.mark.parametrize(
    "other", [{"payload": 2}, {"cost": 6}, {"priority": 1}, {"deadline_s": 9.0}], ids=lambda change: next(iter(change))
)
async def test_the_same_id_for_another_task_is_a_conflict(pool: Harness, other: dict[str, object]) -> None:
    await pool.put()
    client = await pool.client()
    task = {"payload": 1, "cost": 5, "task_id": "order-7"}
    await client.submit("acme", **task)
    with pytest.raises(IdempotencyConflict):
        await client.submit("acme", **{**task, **other})
    assert (await pool.store.snapshot()).pool.live == 1


async def test_the_same_id_at_another_tenant_is_another_task(pool: Harness) -> None:
    await pool.put(None, acme=TenantConfig(), globex=TenantConfig())
    client = await pool.client()
    await client.submit("acme", 1, cost=5, task_id="order-7")
    await client.submit("globex", 2, cost=5, task_id="order-7")
    assert (await pool.store.snapshot()).pool.live == 2


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("tenant", bad) for bad in ("", "a b", "a{b}", "a:b", "a\n", "../x", "é", "x" * 129, 7, None)),
        *(("task_id", bad) for bad in ("", "a b", "{x}", "x" * 201, 7)),
        *(("cost", bad) for bad in (0, -1, 1.5, True, "1", None, 2**40 + 1, math.nan)),
        *(("priority", bad) for bad in (-1, 256, 1.0, False)),
        *(("deadline_s", bad) for bad in (0, -1, math.nan, math.inf, "1", True)),
        ("on_unknown", "retry-please"),
        *(("payload", bad) for bad in (math.nan, {1, 2}, object(), {"x": b"bytes inside"}, "\ud800")),
    ],
)
async def test_a_malformed_task_is_refused_by_name_and_nothing_is_sent(field: str, value: object) -> None:
    unreachable = Store(Endpoint("unix:///nowhere/at/all", call_timeout_ms=100), "x")
    async with unreachable, Client(unreachable) as client:
        task = {"tenant": "acme", "payload": {}, "cost": 1, field: value}
        with pytest.raises(InvalidTask, match=field):
            await client.submit(**task)


@pytest.mark.parametrize("cost", [0, -1, 2**53 + 1, 1.5, math.nan, 1e308, True, "1"])
async def test_an_invalid_cost_is_refused_naming_field_and_value(cost: object) -> None:
    unreachable = Store(Endpoint("unix:///nowhere/at/all", call_timeout_ms=100), "x")
    async with unreachable, Client(unreachable) as client:
        with pytest.raises(InvalidTask) as caught:
            await client.submit("acme", {}, cost=cost)  # type: ignore[arg-type]
    assert caught.value.message.startswith(f"cost = {cost!r}: ")
    assert caught.value.context == {"field": "cost", "value": repr(cost)}


async def test_a_payload_above_the_limit_is_refused_with_the_limit(pool: Harness) -> None:
    await pool.put()
    client = await pool.client(max_payload_bytes=100)
    await client.submit("acme", b"x" * 99, cost=1)
    with pytest.raises(InvalidTask, match="max_payload_bytes = 100"):
        await client.submit("acme", b"x" * 100, cost=1)


async def test_each_refusal_has_its_own_error_and_writes_nothing(pool: Harness) -> None:
    await pool.put(PoolConfig(cost_ceiling_units=1000), acme=TenantConfig(queue_limit=1, cost_ceiling_units=500))
    client = await pool.client()
    with pytest.raises(UnknownTenant):
        await client.submit("nobody", 1, cost=1)
    with pytest.raises(CostAboveCeiling, match="at most 500"):
        await client.submit("acme", 1, cost=501)
    await client.submit("acme", 1, cost=500)
    with pytest.raises(QueueFull):
        await client.submit("acme", 1, cost=1)
    await pool.store.admit(False)
    with pytest.raises(AdmissionClosed):
        await client.submit("acme", 1, cost=1)
    snapshot = await pool.store.snapshot()
    assert [tenant.id for tenant in snapshot.tenants] == ["acme"]
    assert snapshot.pool.live == 1


async def test_submit_many_answers_in_the_order_of_its_tasks(pool: Harness) -> None:
    await pool.put()
    await pool.dispatcher()
    await pool.worker(SimulatedProvider())
    client = await pool.client(batch=4)
    specs = [TaskSpec("acme", {"echo": n}, 10) for n in range(30)]
    specs[0] = TaskSpec("acme", {}, 0)
    specs[7] = TaskSpec("nobody", {}, 10)
    specs[29] = TaskSpec("acme", math.inf, 10)
    answers = await client.submit_many(specs)
    kinds = {index: type(answer) for index, answer in enumerate(answers) if not isinstance(answer, TaskHandle)}
    assert kinds == {0: InvalidTask, 7: UnknownTenant, 29: InvalidTask}
    handles = [answer for answer in answers if isinstance(answer, TaskHandle)]
    expected = [n for n in range(30) if n not in kinds]
    assert await client.wait_many(handles, 10) == expected


async def test_each_task_above_a_queue_s_bound_is_refused_with_the_bound(pool: Harness) -> None:
    await pool.put(None, acme=TenantConfig(queue_limit=100), globex=TenantConfig())
    client = await pool.client()
    answers = await client.submit_many(TaskSpec("acme" if n % 2 else "globex", n, 1) for n in range(1_000))
    refused = [answer for answer in answers if not isinstance(answer, TaskHandle)]
    assert len(refused) == 400
    assert all(isinstance(each, QueueFull) and each.context["limit"] == 100 for each in refused)
    assert {each.context["tenant"] for each in refused} == {"acme"}
    assert (await pool.store.snapshot()).pool.live == 600


async def test_many_at_once_share_calls(pool: Harness) -> None:
    await pool.put()
    client = await pool.client()
    before = (await pool.store.snapshot()).pool.events
    await asyncio.gather(*(client.submit("acme", n, cost=1) for n in range(100)))
    snapshot = await pool.store.snapshot()
    assert snapshot.pool.live == 100
    assert snapshot.pool.events - before <= 3


async def test_an_unreachable_store_is_reported_per_task_and_the_rest_is_not_sent() -> None:
    unreachable = Store(Endpoint("unix:///nowhere/at/all", call_timeout_ms=200), "x")
    async with unreachable, Client(unreachable) as client:
        with pytest.raises(StoreUnavailable) as caught:
            await client.submit("acme", 1, cost=1, task_id="order-7")
        assert caught.value.outcome_known
        assert caught.value.context["task_id"] == "order-7"
        async with asyncio.timeout(5):
            answers = await client.submit_many(TaskSpec("acme", n, 1) for n in range(10_000))
        assert len(answers) == 10_000
        assert all(isinstance(answer, StoreUnavailable) and answer.outcome_known for answer in answers)


async def test_a_task_whose_caller_leaves_before_it_is_sent_is_not_submitted(pool: Harness) -> None:
    await pool.put()
    client = await pool.client()
    leaver = asyncio.create_task(client.submit("acme", 1, cost=1))
    await asyncio.sleep(0)
    leaver.cancel()
    await asyncio.gather(leaver, return_exceptions=True)
    await client.submit("acme", 2, cost=1)
    assert leaver.cancelled()
    assert (await pool.store.snapshot()).pool.live == 1


async def test_a_task_whose_other_submit_failed_brings_its_result(
    pool: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two calls with the same id are in flight; the first fails before the second is accepted."""
    await pool.put()
    client = await pool.client()
    submit = Store.submit
    calls: list[object] = []
    second_is_sent, first_failed = asyncio.Event(), asyncio.Event()

    async def interleaved(store: Store, batch: Sequence[Submission], client_id: str) -> list[Submitted]:
        calls.append(batch)
        if len(calls) == 1:
            await second_is_sent.wait()
            raise StoreUnavailable("gone")
        replies = await submit(store, batch, client_id)
        second_is_sent.set()
        await first_failed.wait()
        return replies

    monkeypatch.setattr(Store, "submit", interleaved)
    first = asyncio.create_task(client.submit("acme", {"echo": 1}, cost=5, task_id="order-7"))
    while not calls:
        await asyncio.sleep(0)
    second = asyncio.create_task(client.submit("acme", {"echo": 1}, cost=5, task_id="order-7"))
    with pytest.raises(StoreUnavailable):
        await first
    first_failed.set()
    handle = await second
    await pool.dispatcher()
    await pool.worker(SimulatedProvider())
    assert await handle.result(timeout_s=10) == 1
