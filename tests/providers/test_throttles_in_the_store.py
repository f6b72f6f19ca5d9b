"""From a provider's 429 to the store, in virtual time: how long tasks wait, and what is counted."""

import pytest

pytest.importorskip("httpx2")

from fairlane.clock import system_rng
from fairlane.config import WorkerConfig
from fairlane.domain.attempt import Outcome
from fairlane.domain.policy import ThrottleScope
from fairlane.errors import Throttled
from fairlane.lifecycle.ending import Endings
from fairlane.providers.base import Call
from fairlane.providers.openai_chat import OpenAIChatProvider
from fairlane.store.connection import Endpoint
from fairlane.store.messages import StartedTask, Throttle
from tests.support.chat_server import Answer, ChatServer
from tests.support.store_runs import forget
from tests.support.store_world import World, task

DEFAULT_MS = 4_321
NOW, IN_TEN_SECONDS = "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:47 GMT"


async def throttled(started: StartedTask) -> Throttle:
    """Call the endpoint as a worker does, and return what the worker reports to the store."""
    provider = OpenAIChatProvider()
    await provider.open()
    with pytest.raises(Throttled) as caught:
        await provider.call(Call("a", "t", "hi", started.cost, started.failures + 1, None))
    await provider.close()
    report = Endings(WorkerConfig(), system_rng(1)).raised(started, caught.value)
    assert isinstance(report, Throttle)
    return report


@pytest.mark.parametrize("scope", list(ThrottleScope))
@pytest.mark.parametrize(
    ("headers", "pause_ms"),
    [
        ({"Retry-After": "2"}, 2_000),
        ({"Retry-After": IN_TEN_SECONDS, "Date": NOW}, 10_000),
        ({"Retry-After": "0"}, 10),
        ({"Retry-After": "-5"}, DEFAULT_MS),
        ({"Retry-After": "soon"}, DEFAULT_MS),
        ({}, DEFAULT_MS),
    ],
    ids=["seconds", "a date", "0", "negative", "garbage", "none"],
)
async def test_a_task_waits_exactly_as_long_as_its_429_says_and_no_failure_is_counted(
    endpoint: Endpoint,
    name: str,
    endpoint_server: ChatServer,
    headers: dict[str, str],
    pause_ms: int,
    scope: ThrottleScope,
) -> None:
    world = World(endpoint, name)
    async with world.store as store:
        await world.ready(default_pause_ms=DEFAULT_MS, throttle_scope=scope, lease_ms=3_600_000)
        (first,) = await world.active(task("t"))
        await world.settle(first, Outcome.FAILED)
        await world.dispatch()
        (second,) = await world.start()
        endpoint_server.will(Answer(429, headers=headers))
        await store.throttle("w1", [await throttled(second)])
        world.now += pause_ms - 1
        assert (await world.dispatch()).placed == 0
        world.now += 1
        assert (await world.dispatch()).placed == 1
        (third,) = await world.start()
        assert (second.failures, third.failures) == (1, 1)
        view = await world.view("t")
        assert (view.failures, view.throttles) == (1, 1)
        await forget(world)
