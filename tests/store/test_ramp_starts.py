"""During a ramp no more handed-over tasks start than slots are open, and none is lost or started twice."""

import math
import random

import pytest

from fairlane.store.messages import Started, StartedTask
from tests.support.store_dump import unchanged
from tests.support.store_world import World, settlement, task, tasks

PAUSE_MS, RAMP_MS = 2_000, 1_000
SHARE = 64
"""A worker waits at least a ``SHARE``-th of a ramp, and at most four times that."""


class Hands:
    """A worker's side of `start`: it asks for fences above the highest one received, as workers do."""

    def __init__(self, world: World, incarnation: str, limit: int = 256) -> None:
        self.world, self.incarnation, self.limit = world, incarnation, limit
        self.cursor = 0
        self.begun: list[StartedTask] = []

    async def ask(self) -> Started:
        answer = await self.world.store.start(self.incarnation, self.cursor, self.limit)
        assert answer.alive
        fences = [each.fence for each in answer.tasks]
        assert fences == sorted(fences)
        self.cursor = max([self.cursor, *fences])
        self.begun += answer.tasks
        return answer


async def handed_over(world: World, count: int, workers: int, *, limit: int = 256, **pool: object) -> list[Hands]:
    """Hand tasks to workers, throttle the first one, and let the others wait until its pause ends."""
    await world.pool(**{"slots": count, "resume_ramp_ms": RAMP_MS, "lease_ms": 3_600_000, **pool})
    await world.tenant()
    hands = [Hands(world, f"w{number}", limit) for number in range(workers)]
    each = count // workers
    for hand in hands:
        await world.worker(hand.incarnation, slots=each)
    await world.submit(*tasks(count))
    plan = [(hand.incarnation, each) for hand in hands]
    while (await world.store.dispatch(plan, 256)).placed:
        pass
    (first,) = (await world.store.start("w0", 0, 1)).tasks
    await world.throttle(first, PAUSE_MS, worker="w0")
    world.now += PAUSE_MS - 1
    for hand in hands:
        answer = await hand.ask()
        assert (answer.tasks, answer.hold_ms, answer.more) == ((), 1, False)
    world.now += 1
    return hands


def open_slots(after_ms: int, capacity: int) -> int:
    return max(1, min(capacity, math.ceil(capacity * after_ms / RAMP_MS)))


@pytest.mark.parametrize(("count", "workers"), [(16, 1), (200, 1), (200, 8), (30, 30)])
async def test_handed_over_tasks_begin_as_slots_open(world: World, count: int, workers: int) -> None:
    hands = await handed_over(world, count, workers)
    began = world.now
    while world.now <= began + RAMP_MS:
        for hand in hands:
            answer = await hand.ask()
            assert answer.hold_ms is None or 1 <= answer.hold_ms <= began + RAMP_MS - world.now
        running = sum(len(hand.begun) for hand in hands)
        assert running == min(count - 1, open_slots(world.now - began, count))
        world.now += 10
    assert (await world.pool_view()).slots == count - 1


@pytest.mark.parametrize(("count", "workers"), [(16, 1), (200, 1), (200, 8), (30, 30)])
async def test_workers_that_wait_as_long_as_asked_begin_everything_by_the_end_of_the_ramp(
    world: World, count: int, workers: int
) -> None:
    hands = await handed_over(world, count, workers)
    began = world.now
    due = dict.fromkeys(hands, world.now)
    asked = 0
    while due:
        world.now = min(due.values())
        for hand in [hand for hand, at in due.items() if at == world.now]:
            hold_ms = (await hand.ask()).hold_ms
            asked += 1
            if hold_ms is None:
                del due[hand]
            else:
                assert hold_ms >= min(math.ceil(RAMP_MS / SHARE), began + RAMP_MS - world.now)
                due[hand] = world.now + hold_ms
        assert sum(len(hand.begun) for hand in hands) <= open_slots(world.now - began, count)
    fences = [each.fence for hand in hands for each in hand.begun]
    assert sorted(fences) == list(range(2, count + 1))
    assert world.now <= began + RAMP_MS
    assert asked <= workers * (SHARE + 1)


async def test_from_the_same_cursor_it_answers_the_same_and_changes_nothing(world: World) -> None:
    await handed_over(world, 16, 1)
    world.now += RAMP_MS // 4
    first = await world.store.start("w0", 0)
    assert [each.fence for each in first.tasks] == [2, 3, 4, 5]
    async with unchanged(world.store, clock=True):
        assert await world.store.start("w0", 0) == first
        rest = await world.store.start("w0", 5)
    assert (rest.tasks, rest.hold_ms) == ((), first.hold_ms)


async def test_the_answer_to_a_worker_that_waits_does_not_say_more(world: World) -> None:
    """Otherwise the worker would ask again at once, repeatedly."""
    (hand,) = await handed_over(world, 16, 1, limit=2)
    world.now += RAMP_MS // 4
    answers = [await hand.ask() for _ in range(3)]
    assert [len(answer.tasks) for answer in answers] == [2, 2, 0]
    assert [answer.more for answer in answers] == [True, True, False]
    assert [answer.hold_ms is None for answer in answers] == [True, True, False]


async def test_slots_of_ended_attempts_go_to_waiting_tasks_before_the_ramp_opens_more(world: World) -> None:
    (hand,) = await handed_over(world, 16, 1)
    world.now += RAMP_MS // 2
    hold_ms = (await hand.ask()).hold_ms
    assert len(hand.begun) == 8
    assert hold_ms is not None
    await world.store.settle("w0", [settlement(each) for each in hand.begun[:3]])
    answer = await hand.ask()
    assert [each.fence for each in answer.tasks] == [10, 11, 12]


async def test_when_no_slot_opens_for_long_the_answer_says_when_to_ask_again(world: World) -> None:
    """The capacity is far below the running tasks: only ended attempts make room, and they ring no bell."""
    (hand,) = await handed_over(world, 64, 1)
    world.now += RAMP_MS // 2
    await hand.ask()
    await world.store.set_capacity(2)
    assert (await hand.ask()).hold_ms == 4 * math.ceil(RAMP_MS / SHARE)


async def test_tasks_placed_during_the_ramp_do_not_overtake_waiting_ones(world: World) -> None:
    """Their fences are higher: started first, they would move the cursor past the waiting ones."""
    (hand,) = await handed_over(world, 16, 1)
    await world.store.cancel([task(f"t{number:05}").ref for number in range(4, 16)])
    world.now += RAMP_MS // 2
    await world.submit(*tasks(4, first=100))
    assert (await world.dispatch(64, "w0")).placed == 5  # including the throttled task
    await hand.ask()
    assert [each.fence for each in hand.begun] == [2, 3, 4, 17, 18, 19, 20, 21]


async def test_waiting_tasks_can_be_cancelled_expire_and_be_taken_back(world: World) -> None:
    hands = await handed_over(world, 16, 2)
    await world.store.cancel([task("t00015").ref])
    await world.store.evict("w1")
    await hands[0].ask()
    assert len(hands[0].begun) == 1
    await world.dispatch(64, "w0")
    world.now += RAMP_MS
    await hands[0].ask()
    await world.dispatch(64, "w0")
    assert (await world.pool_view()).live == 15


async def test_an_expired_task_takes_no_slot_and_delays_nothing(world: World) -> None:
    await world.ready(resume_ramp_ms=RAMP_MS)
    await world.submit(task("first"), *tasks(3, deadline_ms=PAUSE_MS), *tasks(3, first=3))
    await world.dispatch()
    (first,) = (await world.store.start("w1", 0, 1)).tasks
    await world.throttle(first, PAUSE_MS)
    world.now += PAUSE_MS
    answer = await world.store.start("w1", 0)
    assert [each.ref.id for each in answer.tasks] == ["t00003"]
    assert answer.hold_ms is not None


async def test_a_resume_lets_everything_begin(world: World) -> None:
    (hand,) = await handed_over(world, 16, 1)
    await hand.ask()
    await world.store.resume()
    answer = await hand.ask()
    assert (len(hand.begun), answer.hold_ms) == (15, None)


async def test_outside_a_ramp_a_lowered_capacity_does_not_delay_handed_over_tasks(world: World) -> None:
    await world.ready()
    await world.submit(*tasks(16))
    await world.dispatch()
    await world.store.set_capacity(1)
    assert len(await world.start()) == 16


@pytest.mark.parametrize("number", range(6))
async def test_in_a_random_history_nothing_is_lost_and_nothing_begins_twice(world: World, number: int) -> None:
    """Throttles of all lengths, lost replies, cursors that begin again, pauses; then every task runs to its end."""
    rng = random.Random(number)
    await world.pool(slots=12, resume_ramp_ms=rng.choice([50, 400]), lease_ms=3_600_000, default_pause_ms=40)
    await world.tenant()
    hands = [Hands(world, f"w{name}", rng.choice([1, 3, 64])) for name in range(3)]
    for hand in hands:
        await world.worker(hand.incarnation, slots=8)
    await world.submit(*tasks(120))
    running: dict[int, tuple[str, StartedTask]] = {}
    seen: set[int] = set()
    for step in range(1_000):
        calm = step > 150
        await world.store.dispatch([(hand.incarnation, 8) for hand in hands], rng.choice([1, 5, 64]))
        for hand in hands:
            if not calm and rng.random() < 0.1:
                hand.cursor = 0
            if not calm and rng.random() < 0.2:
                await world.store.start(hand.incarnation, hand.cursor, hand.limit)  # and the reply is lost
            more = True
            while more:
                answer = await hand.ask()
                more = answer.more
                for each in answer.tasks:
                    assert each.fence not in seen or running[each.fence][1].ref == each.ref
                    running[each.fence] = (hand.incarnation, each)
                    seen.add(each.fence)
        for fence, (incarnation, each) in rng.sample(sorted(running.items()), (len(running) + 1) // 2):
            del running[fence]
            if not calm and rng.random() < 0.5:
                await world.throttle(each, rng.choice([0, 1, 30, 300, None]), worker=incarnation)
            else:
                await world.settle(each, worker=incarnation)
        if not calm and rng.random() < 0.02:
            await world.store.pause(rng.choice([10, 500]))
        world.now += rng.choice([0, 1, 7, 40])
        if (await world.pool_view()).live == 0:
            break
    assert (await world.pool_view()).live == 0
    assert not running
