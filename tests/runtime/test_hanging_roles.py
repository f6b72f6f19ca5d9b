"""A dispatcher or controller that hangs is noticed and replaced, and does not hold up the stop."""

import asyncio
import contextlib
import os
import signal

import pytest

from fairlane import Scheduler, TaskSpec, WorkerHealthConfig
from fairlane.embedded.processes import wait_until

from .conftest import PROVIDER, gone

pytestmark = [pytest.mark.ray, pytest.mark.fault]

HEALTH = WorkerHealthConfig(interval_ms=100, timeout_ms=500, failure_threshold=3)
RARELY = WorkerHealthConfig(interval_ms=600_000)


@contextlib.contextmanager
def stopped(pid: int):
    """Suspend a process; resume it at the end, if it still exists."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize("victim", ["dispatcher", "controller"])
async def test_a_role_that_hangs_is_replaced_and_tasks_complete(platform, config, victim):
    async with Scheduler(config.model_copy(update={"health": HEALTH}), PROVIDER, platform=platform) as s:
        before = await s.operator.actor_pids()
        with stopped(before[victim]):
            handles = await s.submit_many([TaskSpec("acme", {"echo": i, "ms": 5}, cost=50) for i in range(50)])
            assert await s.wait_many(handles, timeout_s=60) == list(range(50))
            assert await asyncio.to_thread(wait_until, lambda: gone(before[victim]), 30.0)
        after = await s.operator.actor_pids()
        assert {name for name in before if before[name] != after[name]} == {victim}


async def test_a_stop_does_not_wait_for_roles_that_hang(platform, config):
    workers = config.workers.model_copy(update={"grace_ms": 40_000})
    config = config.model_copy(update={"health": RARELY, "workers": workers})
    scheduler = Scheduler(config, PROVIDER, platform=platform)
    await scheduler.start()
    pids = await scheduler.operator.actor_pids()
    with stopped(pids["dispatcher"]), stopped(pids["controller"]):
        async with asyncio.timeout(config.workers.grace_ms / 1000):  # less than the grace time of each role
            await scheduler.stop()
        assert await asyncio.to_thread(wait_until, lambda: all(map(gone, pids.values())), 30.0)
