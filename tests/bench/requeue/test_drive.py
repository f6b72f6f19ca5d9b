"""The scenario of a throttled task, driven against a real server with every role on this loop."""

from bench.requeue.drive import drive
from bench.requeue.scenario import THROTTLE_REQUEUE
from tests.bench.worlds import failed, keys, on


async def test_a_throttled_task_goes_back_to_its_place(platform, endpoint):
    before = await keys(endpoint)
    assert failed(THROTTLE_REQUEUE, await drive(THROTTLE_REQUEUE, on(platform))) == []
    assert await keys(endpoint) == before
