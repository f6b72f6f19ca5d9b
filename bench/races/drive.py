"""Drives a race: the naive counterpart, then the product, on the same server."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack

from bench.races import naive
from bench.races.metrics import RaceMetrics, RaceSide
from bench.races.scenario import RaceScenario
from bench.shared.kind import Run
from bench.shared.platform import Platform
from bench.shared.session import fresh_name
from fairlane.config import PoolConfig
from fairlane.store.messages import Adaptation
from fairlane.store.store import Store


async def drive(scenario: RaceScenario, run: Run) -> RaceMetrics:
    """Run both sides once per crowd and return how they ended."""
    run.progress("naive controllers")
    outcome = await naive.race(
        run.platform.endpoint.url,
        f"{fresh_name('race')}:capacity",
        capacity=scenario.capacity,
        contenders=scenario.naive_contenders,
    )
    broken = RaceSide(
        contenders=scenario.naive_contenders,
        before=scenario.capacity,
        after=outcome.after,
        answers={f"read {read}, wrote +1": count for read, count in sorted(Counter(outcome.read).items())},
    )
    run.progress(f"crowds of {' and '.join(map(str, scenario.crowds))} controllers")
    repaired = await asyncio.gather(*(_repaired(scenario, run.platform, contenders) for contenders in scenario.crowds))
    return RaceMetrics(naive=broken, repaired=repaired)


async def _repaired(scenario: RaceScenario, platform: Platform, contenders: int) -> RaceSide:
    """Bring a pool to where one recovery is due, and let all controllers take their tick at the same instant."""
    name = fresh_name(scenario.name)
    rules = scenario.controller
    async with AsyncExitStack() as stack:
        owner = await stack.enter_async_context(Store(platform.endpoint, name))
        await owner.put_pool(PoolConfig(slots=scenario.hard_limit))
        stack.push_async_callback(owner.erase)
        stores = [await stack.enter_async_context(Store(platform.endpoint, name)) for _ in range(contenders)]
        before = await owner.set_capacity(scenario.capacity)
        for _ in range(rules.clean_ticks):
            await asyncio.sleep(2 * rules.period_ms / 1000)
            await owner.adapt(rules)
        await asyncio.gather(*(store.snapshot() for store in stores))  # connected before the race
        await asyncio.sleep((rules.cooldown_ms + rules.period_ms) / 1000)
        barrier = asyncio.Barrier(contenders)

        async def tick(store: Store) -> Adaptation:
            await barrier.wait()
            return await store.adapt(rules)

        answers = await asyncio.gather(*(tick(store) for store in stores))
        after = (await owner.snapshot()).pool.capacity
    return RaceSide(
        contenders=contenders,
        before=before,
        after=after,
        answers=dict(sorted(Counter(answer.reason.value for answer in answers).items())),
    )
