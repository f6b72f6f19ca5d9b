"""The capacity follows the provider's throttles."""

from fairlane.config import PoolConfig
from fairlane.domain.events import CapacityRow
from fairlane.domain.policy import ThrottleScope
from fairlane.providers.simulated import SimulatedProvider
from tests.lifecycle.harness import Harness, until


async def test_throttles_halve_the_capacity_and_quiet_brings_it_back_one_by_one(pool: Harness) -> None:
    await pool.put(PoolConfig(slots=8, throttle_scope=ThrottleScope.TASK))
    await pool.dispatcher()
    await pool.worker(SimulatedProvider())
    client = await pool.client()
    handle = await client.submit("acme", {"throttle": 1, "retry_after_ms": 1}, cost=1)
    await handle.result(10)
    await pool.controller(period_ms=10, cooldown_ms=20, clean_ticks=2)

    async def capacity_is(slots: int) -> bool:
        return (await pool.store.snapshot()).pool.capacity == slots

    await until(lambda: capacity_is(4))
    await until(lambda: capacity_is(8))
    rows = [row for event in await pool.store.events() for row in event.rows if isinstance(row, CapacityRow)]
    changes = [(row.before, row.after) for row in rows]
    assert changes[-5:] == [(8, 4), (4, 5), (5, 6), (6, 7), (7, 8)]


async def test_a_disabled_controller_changes_nothing(pool: Harness) -> None:
    await pool.put(PoolConfig(slots=8, throttle_scope=ThrottleScope.TASK))
    await pool.dispatcher()
    await pool.worker(SimulatedProvider())
    controller = await pool.controller(enabled=False, period_ms=10, cooldown_ms=0)
    client = await pool.client()
    await (await client.submit("acme", {"throttle": 1, "retry_after_ms": 1}, cost=1)).result(10)
    await controller.stop()
    assert (await pool.store.snapshot()).pool.capacity == 8
