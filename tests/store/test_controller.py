"""adapt and set_capacity: one decision per period, however many controllers run, and never out of bounds."""

import asyncio
import math

import pytest

from fairlane.config import ControllerConfig
from fairlane.domain.events import CapacityRow
from fairlane.domain.policy import CapacityReason
from fairlane.errors import ConfigError, FairlaneError, StoreError
from tests.support.store_dump import unchanged
from tests.support.store_packed import poke
from tests.support.store_world import World, task

PERIOD = 250
CONFIG = ControllerConfig(period_ms=PERIOD, cooldown_ms=800, clean_ticks=4, minimum_slots=1)


async def tick(world: World, config: ControllerConfig = CONFIG) -> tuple[int, int, str]:
    """Move time on by one period, then tick."""
    world.now += config.period_ms
    answer = await world.store.adapt(config)
    return answer.before, answer.after, answer.reason.value


async def throttled(world: World) -> None:
    """Throttle one call, and let its pause end."""
    (started,) = await world.active(task(f"t{world.now}-{(await world.pool_view()).fence}"))
    await world.throttle(started, 0)
    await world.store.cancel([started.ref])
    await world.store.resume()


async def test_a_throttle_halves_the_capacity(world: World) -> None:
    await world.ready(slots=64)
    await throttled(world)
    assert await tick(world) == (64, 32, "throttled")
    assert (await world.pool_view()).capacity == 32
    assert await world.rows("capacity") == [CapacityRow(0, 64, "set"), CapacityRow(64, 32, "throttled")]


async def test_several_throttles_within_a_period_halve_it_once(world: World) -> None:
    await world.ready()
    for _ in range(5):
        await throttled(world)
    assert await tick(world) == (64, 32, "throttled")
    assert (await tick(world))[2] == "cooldown"


async def test_it_does_not_change_again_before_the_cooldown_is_over(world: World) -> None:
    await world.ready()
    await throttled(world)
    await tick(world)
    for _ in range(3):
        await throttled(world)
        assert await tick(world) == (32, 32, "cooldown")
    await throttled(world)
    assert await tick(world) == (32, 16, "throttled")


async def test_after_clean_ticks_one_slot_comes_back_at_a_time(world: World) -> None:
    await world.ready()
    await throttled(world)
    await tick(world)
    seen = [await tick(world) for _ in range(12)]
    assert [after for _, after, _ in seen] == [32, 32, 32, 33, 33, 33, 33, 34, 34, 34, 34, 35]
    assert [reason for *_, reason in seen] == ["cooldown", "cooldown", "cooldown", "recovered"] * 3


async def test_after_the_cooldown_it_still_waits_for_enough_clean_ticks(world: World) -> None:
    await world.pool(slots=8)
    await world.store.set_capacity(2)
    config = ControllerConfig(period_ms=PERIOD, cooldown_ms=0, clean_ticks=3)
    seen = [await tick(world, config) for _ in range(6)]
    assert [reason for *_, reason in seen] == ["settling", "settling", "recovered"] * 2
    assert seen[-1][1] == 4


async def test_it_never_falls_below_the_minimum(world: World) -> None:
    await world.ready()
    config = ControllerConfig(period_ms=PERIOD, cooldown_ms=0, minimum_slots=5)
    for _ in range(8):
        await throttled(world)
        _, after, reason = await tick(world, config)
    assert (after, reason) == (5, "at_limit")


async def test_it_never_rises_above_the_hard_limit(world: World) -> None:
    await world.pool(slots=2)
    config = ControllerConfig(period_ms=PERIOD, cooldown_ms=0, clean_ticks=1)
    await world.store.set_capacity(1)
    seen = [await tick(world, config) for _ in range(3)]
    assert seen == [(1, 2, "recovered"), (2, 2, "at_limit"), (2, 2, "at_limit")]


async def test_a_tick_before_its_time_counts_for_nothing(world: World) -> None:
    await world.ready()
    await tick(world)
    await throttled(world)
    world.now += PERIOD - 1
    async with unchanged(world.store):
        answer = await world.store.adapt(CONFIG)
    assert (answer.reason, answer.next_ms) == (CapacityReason.EARLY, 1)
    world.now += 1
    assert (await world.store.adapt(CONFIG)).after == 32


async def test_eight_controllers_act_as_one(world: World) -> None:
    await world.ready()
    for _ in range(6):
        await throttled(world)
        world.now += 1000
        answers = await asyncio.gather(*(world.store.adapt(CONFIG) for _ in range(8)))
        assert len([a for a in answers if a.before != a.after]) == 1
    assert (await world.pool_view()).capacity == 1
    assert [row.after for row in await world.rows("capacity")] == [64, 32, 16, 8, 4, 2, 1]


@pytest.mark.parametrize("slots", [0, -1, True, 1.5, math.nan, math.inf, 1e308, 10**18, "1", None])
async def test_a_bad_capacity_is_refused_with_its_value(world: World, slots: object) -> None:
    await world.ready()
    async with unchanged(world.store, clock=True):
        with pytest.raises(FairlaneError, match="slots") as caught:
            await world.store.set_capacity(slots)  # type: ignore[arg-type]
    assert isinstance(caught.value, ConfigError)


@pytest.mark.parametrize("slots", [0, -1, 1.5, math.nan, -math.inf, "7", None, [], True])
async def test_the_script_itself_refuses_a_bad_capacity(world: World, slots: object) -> None:
    await world.ready()
    async with unchanged(world.store, clock=True):
        with pytest.raises(StoreError):
            await world.store._call("set_capacity", slots=slots)  # another client's write, not this library's


GOOD_TICK = {"period_ms": PERIOD, "cooldown_ms": 800, "clean_ticks": 4, "minimum_slots": 1}


@pytest.mark.parametrize("bad", [-1, 1.5, math.nan, "1", None])
@pytest.mark.parametrize("field", GOOD_TICK)
async def test_the_script_itself_refuses_a_bad_tick(world: World, field: str, bad: object) -> None:
    await world.ready()
    await throttled(world)
    async with unchanged(world.store, clock=True):
        with pytest.raises(StoreError):
            await world.store._call("adapt", **{**GOOD_TICK, field: bad})


async def test_a_minimum_of_zero_still_leaves_one_slot(world: World) -> None:
    await world.pool(slots=1)
    await poke(world.store, "pool", throttles=1)
    await world.store._call("adapt", period_ms=PERIOD, cooldown_ms=0, clean_ticks=1, minimum_slots=0)
    assert (await world.pool_view()).capacity == 1


async def test_an_operator_s_capacity_is_clamped_to_the_hard_limit(world: World) -> None:
    await world.pool(slots=10)
    assert await world.store.set_capacity(10**6) == 10
    assert await world.store.set_capacity(3) == 3
    async with unchanged(world.store, clock=True):
        assert await world.store.set_capacity(3) == 3
    assert await world.rows("capacity") == [CapacityRow(0, 10, "set"), CapacityRow(10, 3, "set")]
