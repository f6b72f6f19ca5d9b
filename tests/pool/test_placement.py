"""Placing: whom a strategy may choose from, and when waiting is of no use."""

import asyncio

import pytest

from fairlane.clock import system_rng
from fairlane.pool.errors import PoolError, PoolErrorCode
from fairlane.pool.placement import Placement
from fairlane.pool.pool import Pool
from fairlane.pool.strategies.registry import make_strategy
from fairlane.telemetry import Telemetry
from tests.support.pool_workers import ScriptedWorker, started
from tests.support.virtual_time import VirtualClock, settle, virtual_time


class Plans:
    """The workers that somebody will bring back."""

    def __init__(self, pool: Pool[ScriptedWorker], *restarted: str) -> None:
        self.restarted = set(restarted)
        self.placement = Placement(
            pool,
            make_strategy("least-busy", system_rng(1)),
            "least-busy",
            queue_limit=10,
            will_restart=self.restarted.__contains__,
            clock=VirtualClock(),
            telemetry=Telemetry(),
        )


@virtual_time
async def test_it_hands_out_slots_only_while_it_is_open() -> None:
    [worker] = await started(ScriptedWorker("a"))
    placement = Plans(Pool([worker])).placement
    with pytest.raises(PoolError, match="the manager does not run"):
        await placement.take(())
    placement.open()
    assert await placement.take(()) is worker
    placement.close()
    with pytest.raises(PoolError, match="the manager does not run"):
        await placement.take(())


@virtual_time
async def test_changed_plans_for_a_failed_worker_end_the_wait_for_it() -> None:
    [worker] = await started(ScriptedWorker("a"))
    plans = Plans(Pool([worker]), "a")
    worker.fail("gone")
    plans.placement.open()
    waiting = asyncio.create_task(plans.placement.take(()))
    await settle()
    assert not waiting.done()
    plans.restarted.clear()
    plans.placement.reconsider("a")
    with pytest.raises(PoolError, match="no worker to wait for: 1 failed") as raised:
        await waiting
    assert raised.value.code is PoolErrorCode.NO_WORKERS_AVAILABLE


@virtual_time
async def test_plans_for_one_that_left_change_nothing() -> None:
    [worker] = await started(ScriptedWorker("a"))
    plans = Plans(Pool([worker]), "b")
    plans.placement.open()
    plans.placement.reconsider("b")
    assert await plans.placement.take(()) is worker


@virtual_time
async def test_plans_that_are_told_after_the_end_do_not_open_it_again() -> None:
    [worker] = await started(ScriptedWorker("a"))
    plans = Plans(Pool([worker]), "a")
    plans.placement.open()
    plans.placement.close()
    plans.placement.reconsider("a")
    with pytest.raises(PoolError, match="the manager does not run"):
        await plans.placement.take(())
