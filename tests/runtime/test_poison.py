"""A task that kills its workers makes no other task fail."""

import os
import signal

import pytest

from fairlane import Call, Reply, Scheduler, TaskDead, TaskSpec
from fairlane.providers.simulated import SimulatedProvider

pytestmark = [pytest.mark.ray, pytest.mark.fault]


class Poisonable(SimulatedProvider):
    """Plays its payload; the payload ``kill`` kills the process."""

    async def call(self, call: Call) -> Reply:
        if call.payload == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        return await super().call(call)


@pytest.mark.parametrize("poison", [1, 3])
async def test_only_the_task_that_kills_its_workers_is_given_up(platform, config, poison):
    async with Scheduler(config, Poisonable(), platform=platform) as s:
        good = await s.submit_many([TaskSpec("beta", {"echo": i, "ms": 100}, cost=50) for i in range(80)])
        bad = await s.submit_many([TaskSpec("acme", "kill", cost=50) for _ in range(poison)])
        outcomes = await s.wait_many([*good, *bad], timeout_s=120)
        assert outcomes[:80] == list(range(80))
        assert [(type(each), each.error_code) for each in outcomes[80:]] == [(TaskDead, "workers_lost")] * poison
        pool = (await s.operator.snapshot()).pool
        assert (pool.slots, pool.cost, pool.live) == (0, 0, 0)
