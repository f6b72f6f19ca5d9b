"""After a throttle's pause slots reopen step by step: no thundering herd at the provider."""

import itertools
import math

import pytest

from fairlane import _core
from fairlane.domain.policy import StopReason, ThrottleScope
from fairlane.store.messages import Throttle, Write
from tests.support.store_world import World, task, tasks

SLOTS = 16
HERD = 200


async def throttled(world: World, retry_after_ms: int, **pool: object) -> None:
    """Sixteen tasks are running, and the provider throttles all of them with the same pause."""
    await world.ready(**{"resume_ramp_ms": 1_000, **pool})
    await world.store.set_capacity(SLOTS)
    running = await world.active(*tasks(SLOTS))
    answers = await world.store.throttle("w1", [Throttle(each.ref, each.fence, retry_after_ms) for each in running])
    assert answers == [Write.DONE] * SLOTS


async def test_the_slots_come_back_evenly_over_the_ramp(world: World) -> None:
    await throttled(world, 2_000)
    began = world.now
    flying = []
    for after_ms in (0, 1, 250, 500, 750, 1_000):
        world.now = began + 2_000 + after_ms
        await world.dispatch()
        flying.append((await world.pool_view()).slots)
    assert flying == [1, 1, 4, 8, 12, 16]


async def test_the_answer_to_a_dispatch_says_when_the_next_slot_opens(world: World) -> None:
    await throttled(world, 2_000)
    world.now += 2_000
    steps = []
    while (await world.pool_view()).slots < SLOTS:
        answer = await world.dispatch()
        steps.append(answer.placed)
        if answer.wake_ms is not None:
            assert answer.stop is StopReason.CAPACITY
            world.now += answer.wake_ms
    assert steps == [1] * SLOTS


async def test_a_ramp_is_no_longer_than_its_pause(world: World) -> None:
    await throttled(world, 100)
    world.now += 200
    await world.dispatch()
    assert (await world.pool_view()).slots == SLOTS


async def test_a_resume_opens_all_slots_at_once(world: World) -> None:
    await throttled(world, 2_000)
    world.now += 10
    await world.store.resume()
    assert (await world.dispatch()).placed == SLOTS


@pytest.mark.parametrize(("second_ms", "after_ms"), [(0, 0), (1, 1), (100, 300), (1_000, 999), (5_000, 10)])
async def test_a_throttle_during_the_ramp_restarts_it_and_never_shortens_it(
    world: World, second_ms: int, after_ms: int
) -> None:
    await throttled(world, 2_000)
    world.now += 2_000
    await world.dispatch()
    (first, *_) = await world.start()
    world.now += after_ms
    await world.throttle(first, second_ms)
    began = world.now + (second_ms or 20)  # a throttle of 0 alone waits twice as long as the task's first one
    assert (await world.pool_view()).paused_ms == began - world.now
    flying = []
    for later_ms in (0, 1, 250, 500, 750, 1_000):
        world.now = began + later_ms
        await world.dispatch()
        flying.append((await world.pool_view()).slots)
    assert flying == [1, 1, 4, 8, 12, 16]


async def test_a_longer_throttle_during_a_short_ramp_begins_its_own_ramp(world: World) -> None:
    await throttled(world, 100)
    world.now += 150
    await world.dispatch()
    (first, *_) = await world.start()
    await world.throttle(first, 800)
    world.now += 800 + 400
    await world.dispatch()
    assert (await world.pool_view()).slots == SLOTS // 2


async def test_a_ramp_that_has_ended_has_no_effect(world: World) -> None:
    await throttled(world, 2_000)
    world.now += 3_000
    await world.dispatch()
    (first, *_) = await world.start()
    await world.throttle(first, 10)
    world.now += 15
    await world.store.set_capacity(2 * SLOTS)
    await world.submit(*tasks(SLOTS, first=SLOTS))
    await world.dispatch()
    assert (await world.pool_view()).slots == SLOTS  # half of the capacity after half of ten milliseconds


@pytest.mark.parametrize("pause_first", [False, True])
async def test_an_operator_s_longer_pause_keeps_the_ramp(world: World, pause_first: bool) -> None:
    await world.ready(resume_ramp_ms=1_000, lease_ms=100_000)
    await world.store.set_capacity(SLOTS)
    running = await world.active(*tasks(SLOTS))
    if pause_first:
        await world.store.pause(60_000)
    await world.store.throttle("w1", [Throttle(each.ref, each.fence, 2_000) for each in running])
    if not pause_first:
        await world.store.pause(60_000)
    assert (await world.pool_view()).paused_ms == 60_000
    world.now += 60_000 + 500
    await world.dispatch()
    assert (await world.pool_view()).slots == SLOTS // 2


async def test_an_operator_s_pause_begins_no_ramp(world: World) -> None:
    await world.ready(resume_ramp_ms=1_000)
    await world.submit(*tasks(SLOTS))
    await world.store.pause(2_000)
    world.now += 2_000
    assert (await world.dispatch()).placed == SLOTS


async def test_a_ramp_that_an_operator_shortens_is_shorter_from_the_next_throttle(world: World) -> None:
    await throttled(world, 2_000)
    world.now += 2_000
    await world.dispatch()
    (first,) = await world.start()
    await world.pool(resume_ramp_ms=100)
    await world.throttle(first, 1)
    world.now += 1 + 50
    await world.dispatch()
    assert (await world.pool_view()).slots == SLOTS // 2


async def test_without_a_ramp_all_come_back_at_once(world: World) -> None:
    await throttled(world, 2_000, resume_ramp_ms=0)
    world.now += 2_000
    assert (await world.dispatch()).placed == SLOTS


async def test_tasks_that_wait_by_themselves_come_back_one_after_the_other(world: World) -> None:
    await throttled(world, 1_600, throttle_scope=ThrottleScope.TASK)
    began = world.now
    world.now = began + 1_599
    assert (await world.dispatch()).placed == 0
    flying = []
    for after_ms in (0, 250, 500, 1_000):
        world.now = began + 1_600 + after_ms
        await world.dispatch()
        flying.append((await world.pool_view()).slots)
    assert flying[-1] == SLOTS
    assert flying == sorted(flying)
    assert flying[0] <= 2
    assert 3 <= flying[1] <= 6


@pytest.mark.parametrize("scope", list(ThrottleScope))
async def test_200_throttled_at_once_start_again_spread_over_the_ramp(world: World, scope: ThrottleScope) -> None:
    pause_ms, ramp_ms, step_ms = 2_000, 1_000, 62
    await world.pool(slots=HERD, resume_ramp_ms=ramp_ms, throttle_scope=scope)
    await world.tenant()
    await world.worker(slots=HERD)
    running = await world.active(*tasks(HERD))
    await world.store.throttle("w1", [Throttle(each.ref, each.fence, pause_ms) for each in running])
    began, starts = world.now, list[int]()
    while len(starts) < HERD:
        answer = await world.dispatch(HERD)
        assert answer.placed or answer.wake_ms
        starts += [world.now - began] * answer.placed
        world.now += answer.wake_ms or 0
    assert pause_ms <= min(starts) <= pause_ms + step_ms
    assert pause_ms + ramp_ms - step_ms - 1 <= max(starts) <= pause_ms + ramp_ms + 1
    busiest = _core.fullest_window(starts, step_ms)
    assert busiest is not None
    assert busiest[0] <= math.ceil(HERD * step_ms / ramp_ms) + 3
    assert {each.failures for each in await world.start()} == {0}


@pytest.mark.parametrize("stride", [2, 16, 64])
async def test_one_tenant_s_tasks_are_spread_although_its_turns_come_at_regular_places(
    world: World, stride: int
) -> None:
    """Equal tenants take turns, so that every ``stride``-th attempt belongs to the first tenant."""
    pause_ms, ramp_ms, each = 2_000, 1_000, 192 // stride
    names = [f"t{number}" for number in range(stride)]
    await world.pool(slots=192, quantum_units=100, resume_ramp_ms=ramp_ms, throttle_scope=ThrottleScope.TASK)
    for name in names:
        await world.tenant(name)
    await world.worker(slots=192)
    running = await world.active(*(task(f"x{n}", tenant=name) for n in range(each) for name in names))
    mine = [started for started in running if started.ref.tenant == names[0]]
    assert {second.fence - first.fence for first, second in itertools.pairwise(mine)} == {stride}
    await world.store.throttle("w1", [Throttle(started.ref, started.fence, pause_ms) for started in mine])
    began, starts = world.now, list[int]()
    while len(starts) < each:
        answer = await world.dispatch(each)
        assert answer.placed or answer.wake_ms
        starts += [world.now - began] * answer.placed
        world.now += answer.wake_ms or 0
    assert pause_ms <= min(starts)
    assert max(starts) <= pause_ms + ramp_ms
    busiest = _core.fullest_window(starts, ramp_ms // 4)
    assert busiest is not None
    assert busiest[0] <= each // 4 + 2
