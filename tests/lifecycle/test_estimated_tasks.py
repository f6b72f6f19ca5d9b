"""Tasks without a cost: the client estimates them, learns their actual costs, and sizes their holds accordingly."""

import pytest

from fairlane.config import EstimateConfig, PoolConfig, TenantConfig
from fairlane.errors import CostAboveCeiling, IdempotencyConflict, InvalidTask
from fairlane.lifecycle.estimate import ChatEstimator
from fairlane.lifecycle.handle import TaskHandle
from fairlane.lifecycle.sizing import Coverage
from fairlane.lifecycle.submission import TaskSpec
from fairlane.providers.simulated import SimulatedProvider
from tests.lifecycle.harness import Harness

SIZED = EstimateConfig(overrun_probability=0.1, min_samples=20)


class PerField:
    """A custom estimator."""

    def estimate(self, payload: object) -> int:
        assert isinstance(payload, dict)
        return 100 * len(payload)


async def _cost(pool: Harness, handle: TaskHandle) -> int:
    view = (await pool.store.get([handle.ref]))[0]
    assert view is not None
    return view.cost


async def test_without_an_estimator_every_task_names_its_cost(pool: Harness) -> None:
    await pool.put()
    client = await pool.client()
    with pytest.raises(InvalidTask, match="no estimator"):
        await client.submit("acme", {})
    [answer] = await client.submit_many([TaskSpec("acme", {})])
    assert isinstance(answer, InvalidTask)
    assert client.coverage() == Coverage(0, 0)


async def test_the_section_estimates_brings_the_chat_estimator(pool: Harness) -> None:
    await pool.put()
    client = await pool.client(estimates=EstimateConfig(output_tokens=7))
    handle = await client.submit("acme", "x" * 40)
    assert await _cost(pool, handle) == ChatEstimator(EstimateConfig(output_tokens=7)).estimate("x" * 40) == 17


async def test_a_custom_estimator_overrides_the_section_and_a_given_cost_overrides_both(pool: Harness) -> None:
    await pool.put()
    client = await pool.client(estimator=PerField(), estimates=EstimateConfig())
    assert await _cost(pool, await client.submit("acme", {"a": 1, "b": 2})) == 200
    assert await _cost(pool, await client.submit("acme", {"a": 1, "b": 2}, cost=5)) == 5
    [handle] = await client.submit_many([TaskSpec("acme", {"a": 1})])
    assert isinstance(handle, TaskHandle)
    assert await _cost(pool, handle) == 100


async def test_holds_shrink_to_the_actual_costs_of_the_tenants_tasks(pool: Harness) -> None:
    await pool.put(None, acme=TenantConfig(), globex=TenantConfig())
    await pool.dispatcher()
    await pool.worker(SimulatedProvider())
    client = await pool.client(estimator=PerField(), estimates=SIZED)
    handles = [await client.submit("acme", {"actual": 30}) for _ in range(20)]
    assert [await _cost(pool, handle) for handle in handles] == [100] * 20
    await client.wait_many(handles, timeout_s=20)
    assert await _cost(pool, await client.submit("acme", {"actual": 30})) == 31
    assert await _cost(pool, await client.submit("globex", {"actual": 30})) == 100
    assert client.coverage("acme").settled >= 20
    assert client.coverage("acme").share == 1.0


async def test_only_completed_tasks_without_a_cost_train_the_holds(pool: Harness) -> None:
    await pool.put(PoolConfig(max_attempts=1, lease_ms=2_000))
    await pool.dispatcher()
    await pool.worker(SimulatedProvider())
    client = await pool.client(estimator=PerField(), estimates=SIZED)
    handles = [
        await client.submit("acme", {"actual": 30}, cost=100),
        await client.submit("acme", {"fail": 1}),
        await client.submit("acme", {"refuse": True}),
        await client.submit("acme", {"actual": 130}),
    ]
    await client.wait_many(handles, timeout_s=20)
    assert client.coverage("acme") == Coverage(1, 0)


async def test_a_task_submitted_again_is_the_same_task_although_its_hold_would_differ_now(pool: Harness) -> None:
    await pool.put()
    await pool.dispatcher()
    worker = await pool.worker(SimulatedProvider())
    client = await pool.client(estimator=PerField(), estimates=SIZED)
    await client.wait_many([await client.submit("acme", {"actual": 30}) for _ in range(20)], timeout_s=20)
    await worker.stop()
    newcomer = await pool.client(estimator=PerField(), estimates=SIZED)
    first = await newcomer.submit("acme", {"actual": 50}, task_id="order-7")
    again = await client.submit("acme", {"actual": 50}, task_id="order-7")
    assert await _cost(pool, again) == await _cost(pool, first) == 100
    with pytest.raises(IdempotencyConflict):
        await client.submit("acme", {"actual": 50}, task_id="order-7", cost=100)
    await pool.worker(SimulatedProvider(), "w2")
    await newcomer.wait_many([first], timeout_s=20)
    await client.wait_many([again], timeout_s=20)
    assert (newcomer.coverage().settled, client.coverage().settled) == (1, 21)


async def test_a_failing_estimator_refuses_its_task_only(pool: Harness) -> None:
    await pool.put()
    client = await pool.client(estimator=PerField())
    answers = await client.submit_many(
        [TaskSpec("acme", {"a": 1}), TaskSpec("acme", "no fields"), TaskSpec("acme", {})]
    )
    assert isinstance(answers[0], TaskHandle)
    assert isinstance(answers[1], InvalidTask)
    assert isinstance(answers[2], InvalidTask)


async def test_a_sized_hold_is_lowered_to_what_a_ceiling_admits_but_not_below_its_estimate(pool: Harness) -> None:
    await pool.put(None, acme=TenantConfig(cost_ceiling_units=105))
    await pool.dispatcher()
    await pool.worker(SimulatedProvider())
    client = await pool.client(estimator=PerField(), estimates=SIZED)
    handles = [await client.submit("acme", {"actual": 120}) for _ in range(20)]
    await client.wait_many(handles, timeout_s=20)
    assert client.coverage("acme").ratio == pytest.approx(1.2, rel=0.02)
    sized = await client.submit("acme", {"actual": 120})
    assert await _cost(pool, sized) == 105
    assert await sized.result(timeout_s=20) is None
    with pytest.raises(CostAboveCeiling, match="at most 105"):
        await client.submit("acme", {"actual": 120, "too": "much"})
    with pytest.raises(CostAboveCeiling, match="cost 106 can never"):
        await client.submit("acme", {}, cost=106)


async def test_a_reply_without_usage_is_charged_its_hold_and_trains_nothing(pool: Harness) -> None:
    await pool.put()
    await pool.dispatcher()
    await pool.worker(SimulatedProvider())
    client = await pool.client(estimator=PerField(), estimates=SIZED)
    handle = await client.submit("acme", {"echo": 1})
    assert await handle.result(timeout_s=20) == 1
    view = await client.get("acme", handle.ref.id)
    assert view is not None
    assert (view.actual, view.error_code) == (100, "usage_unknown")
    assert client.coverage("acme") == Coverage(0, 0, unknown=1)
