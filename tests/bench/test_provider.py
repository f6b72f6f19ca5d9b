"""The simulated provider counts the calls of the whole pool on a real server, by schedule, even if callers are lost."""

import asyncio
import pickle

import pytest
from redis.asyncio import Redis

from bench.fairness.checks import provider_peak
from bench.shared.provider import Counter, InstantProvider, SimulatedProvider
from fairlane.errors import ProviderRefused, Throttled
from fairlane.providers.base import Call, load_provider
from tests.bench.fairness.figures import metrics


def call(ms: int, units: int = 5) -> Call:
    return Call("acme", "t1", {"ms": ms, "units": units}, units, 1, None)


@pytest.fixture
def schedule():
    return ((0, 2), (300, 1), (600, 3))


@pytest.fixture
async def provider(endpoint, name, schedule):
    one = SimulatedProvider(endpoint.url, name, schedule, 20)
    await one.open()
    yield one
    await one.close()
    await Counter(endpoint.url, name).forget()


always_two = pytest.mark.parametrize("schedule", [((0, 2),)], ids=["always two"])


async def attempt(provider, ms=150):
    try:
        return await provider.call(call(ms))
    except Throttled as error:
        return error


async def test_a_call_takes_its_time_and_returns_its_marks(provider):
    reply = await provider.call(call(50, 7))
    assert reply.actual_units == 7
    assert 50_000 <= reply.result["left_us"] - reply.result["entered_us"] < 1_000_000


async def test_a_call_that_is_cancelled_while_it_enters_keeps_no_place(provider, endpoint, name):
    """The server may run what a caller has sent and no longer waits for."""
    enter, entered = provider._enter, asyncio.Event()

    async def on_the_way(**arguments):
        entered.set()

        async def at_the_server():
            await asyncio.sleep(0.05)
            return await enter(**arguments)

        return await asyncio.shield(asyncio.ensure_future(at_the_server()))

    provider._enter = on_the_way
    calling = asyncio.ensure_future(provider.call(call(1_000)))
    await entered.wait()
    calling.cancel()
    await asyncio.wait({calling})
    assert calling.cancelled()
    await asyncio.sleep(0.1)
    async with Redis.from_url(endpoint.url) as client:
        assert await client.zcard(f"bench:{{{name}}}:running") == 0


@always_two
async def test_only_as_many_at_once_as_the_limit(provider, endpoint, name):
    counter = Counter(endpoint.url, name)
    await counter.start_clock()
    other = SimulatedProvider(endpoint.url, name, provider.schedule)
    await other.open()
    outcomes = await asyncio.gather(*(attempt(each, 700) for each in (provider, other, provider, other)))
    await other.close()
    refused = [each for each in outcomes if isinstance(each, Throttled)]
    assert [each.retry_after_ms for each in refused] == [20, 20]
    assert await counter.peak() == 3, "two in progress and the refused one"
    assert not isinstance(await attempt(provider, 0), Throttled)


@always_two
async def test_refused_calls_above_the_pools_slots_are_counted_in_the_peak(provider, endpoint, name):
    counter = Counter(endpoint.url, name)
    await counter.start_clock()
    for calls, within in ((2, True), (3, False)):
        await asyncio.gather(*(attempt(provider, 400) for _ in range(calls)))
        check = provider_peak(2).judge(None, metrics(provider_peak=await counter.peak()))
        assert check.passed is within


async def test_the_limit_follows_the_clock(provider, endpoint, name):
    await Counter(endpoint.url, name).start_clock()
    admitted = []
    for wait_s in (0, 0.35, 0.35):
        await asyncio.sleep(wait_s)
        outcomes = await asyncio.gather(*(attempt(provider, 1) for _ in range(5)))
        admitted.append(sum(not isinstance(each, Throttled) for each in outcomes))
    assert admitted[1] < admitted[2]
    assert admitted[1] >= 1


async def test_a_payload_can_have_its_first_call_throttled_on_any_worker(provider, endpoint, name):
    other = SimulatedProvider(endpoint.url, name, provider.schedule)
    await other.open()
    wish = Call("acme", "t1", {"ms": 0, "units": 5, "throttle_ms": 700}, 5, 1, None)
    with pytest.raises(Throttled) as throttled:
        await provider.call(wish)
    assert throttled.value.retry_after_ms == 700
    assert (await other.call(wish)).result["attempt"] == 1
    await other.close()


async def test_a_cancelled_call_gives_its_place_back(provider):
    calls = [asyncio.create_task(provider.call(call(10_000))) for _ in range(2)]
    await asyncio.sleep(0.05)
    assert isinstance(await attempt(provider, 0), Throttled)
    for each in calls:
        each.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    assert not isinstance(await attempt(provider, 0), Throttled)


async def test_a_place_that_is_not_given_back_expires(provider, monkeypatch):
    monkeypatch.setattr("bench.shared.provider.PLACE_MS", 100)
    lost = [asyncio.create_task(provider.call(call(10_000))) for _ in range(2)]
    await asyncio.sleep(0.05)
    assert isinstance(await attempt(provider, 0), Throttled)
    await asyncio.sleep(0.1)
    assert not isinstance(await attempt(provider, 0), Throttled)
    for each in lost:
        each.cancel()
    await asyncio.gather(*lost, return_exceptions=True)


async def test_a_strange_payload_is_refused(provider):
    with pytest.raises(ProviderRefused):
        await provider.call(Call("acme", "t1", {"ms": "long"}, 1, 1, None))


def test_providers_pickle_and_load():
    sent = pickle.loads(pickle.dumps(SimulatedProvider("unix:///nowhere", "run", ((0, 4),))))
    assert load_provider(sent) == SimulatedProvider("unix:///nowhere", "run", ((0, 4),))
    assert load_provider("bench.shared.provider:InstantProvider").call is not None
    assert isinstance(pickle.loads(pickle.dumps(InstantProvider())), InstantProvider)


def test_a_secret_url_is_not_shown():
    assert "hush" not in repr(Counter("redis://:hush@host", "run"))
