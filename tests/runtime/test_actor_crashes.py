"""Killed actors restart by themselves, and nothing is lost."""

import asyncio
import os
import signal
import time

import pytest

from fairlane import Scheduler, TaskSpec, TaskState
from fairlane.domain.events import ActiveRow, EnqueuedRow

from .conftest import PROVIDER, gone

pytestmark = [pytest.mark.ray, pytest.mark.fault]


@pytest.mark.parametrize("victim", ["worker-1", "dispatcher", "controller"])
async def test_a_killed_actor_restarts_and_every_task_completes(platform, config, victim):
    specs = [TaskSpec(("acme", "beta")[i % 2], {"echo": i, "ms": 10}, cost=50) for i in range(600)]
    async with Scheduler(config, PROVIDER, platform=platform) as s:
        before = await s.operator.actor_pids()
        handles = await s.submit_many(specs)
        waiting = asyncio.create_task(s.wait_many(handles, timeout_s=60))
        while (await s.operator.snapshot()).pool.successes < 50:
            await asyncio.sleep(0.01)
        os.kill(before[victim], signal.SIGKILL)
        after = await s.operator.actor_pids()

        assert await waiting == list(range(600))
        assert {name for name in before if before[name] != after[name]} == {victim}
        pool = (await s.operator.snapshot()).pool
        assert (pool.slots, pool.cost, pool.successes) == (0, 0, 600)
        # The new process works, too.
        again = await s.submit_many(specs[:200])
        assert len(await s.wait_many(again, timeout_s=60)) == 200


async def test_only_the_calls_of_a_killed_worker_are_repeated(platform, config):
    async with Scheduler(config, PROVIDER, platform=platform) as s:
        handles = await s.submit_many([TaskSpec("acme", {"echo": i, "ms": 2_000}, cost=50) for i in range(12)])
        while not all([await handle.state() is TaskState.ACTIVE for handle in handles]):
            await asyncio.sleep(0.01)
        names = {view.incarnation: view.name.split("@")[0] for view in await s.operator.workers()}
        rows = [row for event in await s.store.events() for row in event.rows if isinstance(row, EnqueuedRow)]
        lost = {row.task for row in rows if names[row.incarnation] == "worker-2"}
        assert 4 <= len(lost) <= 8
        os.kill((await s.operator.actor_pids())["worker-2"], signal.SIGKILL)

        assert await s.wait_many(handles, timeout_s=60) == list(range(12))
        views = [await s.client.get("acme", handle.ref.id) for handle in handles]
        assert {view.ref.id for view in views if view.recoveries == 1} == lost
        assert all(view.recoveries <= 1 and view.failures == 0 for view in views)


async def test_sigterm_lets_a_worker_finish_its_running_tasks(platform, config):
    async with Scheduler(config, PROVIDER, platform=platform) as s:
        pids = await s.operator.actor_pids()
        handles = await s.submit_many([TaskSpec("acme", {"echo": i, "ms": 500}, cost=50) for i in range(8)])
        while (await s.operator.snapshot()).pool.slots < 8:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        os.kill(pids["worker-1"], signal.SIGTERM)
        assert await s.wait_many(handles, timeout_s=60) == list(range(8))
        views = [await s.client.get("acme", handle.ref.id) for handle in handles]
        assert all((view.recoveries, view.failures) == (0, 0) for view in views)
        started = [row for event in await s.store.events() for row in event.rows if isinstance(row, ActiveRow)]
        assert len(started) == 8  # none was handed back and started again
        deadline = time.monotonic() + 30
        while not gone(pids["worker-1"]):
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)
        after = await s.operator.actor_pids()
        assert after["worker-1"] != pids["worker-1"]


async def test_a_worker_stopped_past_its_lease_comes_back_as_a_new_incarnation(platform, config):
    async with Scheduler(config, PROVIDER, platform=platform) as s:
        pids = await s.operator.actor_pids()
        os.kill(pids["worker-1"], signal.SIGSTOP)
        try:
            await asyncio.sleep(config.pool.lease_ms / 1000 + 1.5)
        finally:
            os.kill(pids["worker-1"], signal.SIGCONT)
        handles = await s.submit_many([TaskSpec("acme", {"echo": i, "ms": 5}, cost=50) for i in range(200)])
        assert await s.wait_many(handles, timeout_s=60) == list(range(200))
        names = [view.name.split("@")[0] for view in await s.operator.workers() if view.state == "live"]
        assert sorted(names) == ["worker-1", "worker-2"]
