"""A tenant that has reached its limits, or offers far too much, does not delay the others."""

import random
from typing import Any

import pytest

from fairlane.config import TenantConfig
from fairlane.store.connection import Endpoint
from fairlane.store.messages import SubmitStatus
from tests.support.store_dump import unchanged
from tests.support.store_runs import TICK_MS, Arrival, Run, percentile, played, together
from tests.support.store_windows import window
from tests.support.store_world import World, budget, task, tasks

OTHERS = ("b", "c", "d")
SLOTS, TICKS = 8, 200
LONG_MS = 10**7
LIMITS: dict[str, dict[str, Any]] = {
    "slots": {"slots": 1},
    "cost in flight": {"cost_ceiling_units": 20_000},
    "a budget": {"budget": budget(20_000)},
    "a window of starts": {"starts": window(1, LONG_MS)},
    "a window of spend": {"spend": window(20_000, LONG_MS)},
}


def crowd(source: random.Random) -> list[Arrival]:
    """Three tenants' tasks over four seconds: at times more, at times less than the slots serve."""
    arrivals = [
        (TICK_MS * source.randrange(TICKS), task(f"t{number:03}", TICK_MS * source.randrange(1, 10), tenant=tenant))
        for tenant in OTHERS
        for number in range(100)
    ]
    return sorted(arrivals, key=lambda arrival: arrival[0])


@pytest.mark.parametrize("limit", LIMITS)
async def test_the_waits_of_others_do_not_change_when_a_tenant_waits_for_its_limit(
    endpoint: Endpoint, name: str, limit: str
) -> None:
    tenants = {**dict.fromkeys(OTHERS, TenantConfig()), "a": TenantConfig.model_validate(LIMITS[limit])}
    first, others = (0, task("first", 20_000)), crowd(random.Random(1))
    stuck = [(TICK_MS * number, each) for number, each in enumerate(tasks(150))]
    alone, beside = [
        await played(endpoint, name, together([first], more, others), tenants, slots=SLOTS, quantum_units=100)
        for more in ([], stuck)
    ]
    assert beside.of(*OTHERS) == alone.of(*OTHERS)
    assert percentile(alone.of(*OTHERS).values(), 95) > 0
    at_once, *later = sorted(beside.of("a").values())
    assert at_once == 0
    assert all(wait >= 20_000 - TICK_MS * len(stuck) for wait in later)


BOUND = 2_000


@pytest.mark.parametrize("offered", [20_000, pytest.param(1_000_000, marks=pytest.mark.fault)])
async def test_a_tenant_with_a_million_tasks_is_refused_above_its_bound_and_others_wait_as_if_it_had_few(
    endpoint: Endpoint, name: str, offered: int
) -> None:
    tenants = {**dict.fromkeys(OTHERS, TenantConfig()), "a": TenantConfig(queue_limit=BOUND)}

    async def beside(per_tick: int) -> Run:
        """Tenant ``a`` offers this many tasks at a time, and never fewer than the pool could serve."""
        flood = ((TICK_MS * (n // per_tick), task(f"t{n:06}")) for n in range(per_tick * TICKS))
        arrivals = together(flood, crowd(random.Random(1)))
        return await played(endpoint, name, arrivals, tenants, for_ms=TICK_MS * TICKS, slots=SLOTS, quantum_units=100)

    few, flood = await beside(SLOTS), await beside(offered // TICKS)
    accepted, refused = (flood.answers["a", status] for status in (SubmitStatus.ACCEPTED, SubmitStatus.QUEUE_FULL))
    assert accepted + refused == offered
    assert BOUND - SLOTS <= accepted - len(flood.of("a")) <= BOUND
    assert percentile(flood.of(*OTHERS).values(), 95) == percentile(few.of(*OTHERS).values(), 95) > 0
    assert flood.of(*OTHERS) == few.of(*OTHERS)
    assert {status for _, status in few.answers} == {SubmitStatus.ACCEPTED}


async def test_tasks_above_the_bound_write_nothing(world: World) -> None:
    await world.ready(tenant={"queue_limit": 50})
    await world.submit(*tasks(50))
    async with unchanged(world.store, clock=True):
        world.now += 5
        for first in range(50, 1_330, 256):
            answers = await world.store.submit(tasks(256, first=first), "c")
            assert {(answer.status, answer.limit) for answer in answers} == {(SubmitStatus.QUEUE_FULL, 50)}
