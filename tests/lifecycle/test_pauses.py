"""Pauses and ramps with real roles: no role waits for its next heartbeat, and every waiting task runs."""

from collections import Counter

from fairlane.config import PoolConfig, TenantConfig
from fairlane.errors import Throttled
from fairlane.providers.base import Call, Reply
from fairlane.providers.simulated import SimulatedProvider
from tests.lifecycle.harness import Harness, until

LONG_MS = 60_000


async def test_a_task_submitted_while_an_empty_pool_is_paused_runs_when_the_pause_ends(pool: Harness) -> None:
    """The dispatcher slept before anything was submitted; its next heartbeat is far away."""
    await pool.put(PoolConfig(lease_ms=2_000))
    await pool.store.put_tenants({"acme": TenantConfig()})
    await pool.dispatcher(heartbeat_ms=LONG_MS)

    async def asleep() -> bool:
        return int((await pool.store.info("clients"))["blocked_clients"]) > 0

    await until(asleep)
    await pool.store.pause(200)
    resumes_ms = (await pool.store.snapshot()).pool.now_ms + (await pool.store.snapshot()).pool.paused_ms
    await until(asleep)
    await pool.worker(SimulatedProvider())
    client = await pool.client()
    handle = await client.submit("acme", {"echo": 1}, cost=1)
    assert await handle.result(10) == 1
    view = await client.get("acme", handle.ref.id)
    assert view is not None
    assert view.started_ms is not None
    assert view.started_ms >= resumes_ms


async def test_a_ramp_lets_all_handed_over_tasks_run_once(pool: Harness) -> None:
    """Three workers hold sixteen tasks each when the first calls are throttled, and each call is throttled once."""
    calls: Counter[str] = Counter()

    class Once:
        async def call(self, call: Call) -> Reply:
            calls[call.task_id] += 1
            if calls[call.task_id] == 1:
                raise Throttled(retry_after_ms=20)
            return Reply(call.payload)

    await pool.put(PoolConfig(slots=48, resume_ramp_ms=100), acme=TenantConfig())
    client = await pool.client()
    await pool.store.pause(LONG_MS)
    handles = [await client.submit("acme", number, cost=1) for number in range(100)]
    for name in ("w1", "w2", "w3"):
        await pool.worker(Once(), name)
    await pool.dispatcher(heartbeat_ms=LONG_MS)
    await pool.store.resume()
    assert await client.wait_many(handles, 20) == list(range(100))
    assert set(calls.values()) == {2}
    await pool.assert_nothing_held()
