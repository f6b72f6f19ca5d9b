"""The embedded server's process is killed: it runs again on its data, or every wait ends with a typed error."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from fairlane.config import PoolConfig, SchedulerConfig, ServerConfig, TenantConfig
from fairlane.embedded.guard import Guard
from fairlane.errors import EmbeddedServerError, TaskLost
from fairlane.lifecycle.client import Client
from fairlane.providers.simulated import SimulatedProvider
from fairlane.runtime.platform import Platform
from fairlane.runtime.scheduler import Scheduler
from tests.lifecycle.harness import Gate, Harness

from .conftest import PROVIDER

LIMIT_S = 30.0


class World:
    """A scheduler's server, roles and client in this process, without Ray."""

    def __init__(self, platform: Platform, pool: Harness, client: Client) -> None:
        self.platform = platform
        self.pool = pool
        self.client = client

    def kill_server(self) -> None:
        assert self.platform.server is not None
        assert self.platform.server.pid is not None
        os.kill(self.platform.server.pid, signal.SIGKILL)


@asynccontextmanager
async def _world(guard: Guard, data_dir: Path | None) -> AsyncIterator[World]:
    settings = PoolConfig(lease_ms=2_000)
    config = SchedulerConfig(pool=settings, tenants={"acme": TenantConfig()}, server=ServerConfig(data_dir=data_dir))
    scheduler, platform = Scheduler(config, PROVIDER), Platform(config.server)
    async with AsyncExitStack() as stack:
        await platform._start_server(stack, guard)
        pool = Harness(platform.endpoint, config.name)
        stack.push_async_callback(pool.close)
        await pool.put(settings)
        client = await pool.client()
        stack.enter_context(platform.observing_server(partial(scheduler._on_server, pool.store, client)))
        yield World(platform, pool, client)


async def test_a_killed_server_that_keeps_its_data_goes_on_with_every_task(guard: Guard, tmp_path: Path) -> None:
    async with _world(guard, tmp_path / "data") as world:
        handles = [await world.client.submit("acme", {"echo": number}, cost=5) for number in range(10)]
        world.kill_server()
        await world.pool.dispatcher()
        await world.pool.worker(SimulatedProvider())
        assert await world.client.wait_many(handles, LIMIT_S) == list(range(10))


async def test_a_killed_server_without_data_ends_its_tasks_and_serves_new_ones(guard: Guard) -> None:
    async with _world(guard, None) as world:
        gate = Gate(actual=1)
        gate.open_to.set()
        await world.pool.dispatcher()
        worker = await world.pool.worker(gate)
        before = await world.client.submit("acme", {}, cost=5)
        assert await before.result(LIMIT_S) == before.ref.id
        gate.open_to.clear()
        lost = await world.client.submit("acme", {}, cost=5)
        await gate.begun()
        world.kill_server()
        with pytest.raises(TaskLost, match="unknown to the store"):
            await lost.result(LIMIT_S)
        gate.open_to.set()
        later = await world.client.submit("acme", {}, cost=5)
        assert await later.result(LIMIT_S) == later.ref.id
        assert not worker.task.done()


async def test_a_server_that_cannot_be_started_again_ends_every_wait(
    guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with _world(guard, None) as world:
        handle = await world.client.submit("acme", {}, cost=5)
        waiting = asyncio.create_task(handle.result())
        server = world.platform.server
        assert server is not None
        restart = server.restart

        def fail() -> None:
            raise EmbeddedServerError("no more")

        monkeypatch.setattr(server, "restart", fail)
        world.kill_server()
        async with asyncio.timeout(LIMIT_S):
            with pytest.raises(EmbeddedServerError, match="no more"):
                await waiting
        with pytest.raises(EmbeddedServerError, match="no more"):
            await handle.result()
        restart()  # for the end of the test, which erases the scheduler's keys
