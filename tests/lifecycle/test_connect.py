"""A client without a scheduler's roles, as a process that only submits uses it."""

import asyncio
import os
import sys

import pytest

import fairlane
from fairlane.config import SchedulerConfig, ServerConfig
from fairlane.errors import ConfigError, StoreUnavailable
from fairlane.providers.simulated import SimulatedProvider
from fairlane.store.connection import Endpoint
from tests.lifecycle.harness import Harness

SUBMITTER = """
import asyncio, sys
import fairlane

async def main(url, name):
    async with fairlane.connect(fairlane.SchedulerConfig(name=name, server=fairlane.ServerConfig(url=url))) as client:
        handle = await client.submit("acme", {"echo": "over here"}, cost=3)
        print(await handle.result(timeout_s=20), "ray" in sys.modules)

asyncio.run(main(*sys.argv[1:]))
"""


def config_of(endpoint: Endpoint, name: str) -> SchedulerConfig:
    return SchedulerConfig(name=name, server=ServerConfig(url=endpoint.url))


async def test_another_process_submits_and_gets_its_result_without_ray(pool: Harness) -> None:
    await pool.put()
    await pool.dispatcher()
    await pool.worker(SimulatedProvider())
    submitter = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        SUBMITTER,
        pool.endpoint.url,
        pool.name,
        env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await submitter.communicate()
    assert (submitter.returncode, out.decode().split("\n")) == (0, ["over here False", ""])
    await pool.assert_nothing_held()


async def test_tasks_outlive_their_client(pool: Harness) -> None:
    await pool.put()
    async with fairlane.connect(config_of(pool.endpoint, pool.name)) as client:
        await client.submit("acme", {"echo": 1}, cost=3, task_id="order-1")
    await pool.dispatcher()
    await pool.worker(SimulatedProvider())
    async with fairlane.connect(config_of(pool.endpoint, pool.name)) as client:
        again = await client.submit("acme", {"echo": 1}, cost=3, task_id="order-1")
        assert await again.result(timeout_s=20) == 1


async def test_it_needs_a_server_that_is_named() -> None:
    with pytest.raises(ConfigError, match=r"server\.url: missing"):
        async with fairlane.connect(SchedulerConfig()):
            pass


async def test_it_needs_a_scheduler_of_that_name(endpoint: Endpoint, name: str) -> None:
    with pytest.raises(ConfigError, match=rf"name = {name}: no scheduler of this name on unix://") as refused:
        async with fairlane.connect(config_of(endpoint, name)):
            pass
    assert refused.value.context == {"field": "name"}


async def test_it_needs_a_server_that_answers(tmp_path) -> None:
    nowhere = SchedulerConfig(server=ServerConfig(url=f"unix://{tmp_path}/nobody.sock", call_timeout_ms=300))
    with pytest.raises(StoreUnavailable):
        async with fairlane.connect(nowhere):
            pass
