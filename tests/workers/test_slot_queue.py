"""The queue for slots: first come, first served, whoever is cancelled, and no wake-up is lost."""

import asyncio
from collections.abc import Collection

from hypothesis import given, settings, strategies as st

from fairlane.workers.errors import WorkerError, WorkerErrorCode
from fairlane.workers.executor.slot_queue import SlotQueue
from tests.support.virtual_time import settle, virtual_time
from tests.support.worker_errors import fails


class Slots:
    """Free slots, each named; whoever took one is noted."""

    def __init__(self, limit: int = 1_000, *, free: int = 0) -> None:
        self.free = free
        self.refusals = 0
        self.asked = 0
        self.avoided: list[Collection[str]] = []
        self.taken: list[str] = []
        self.queue: SlotQueue[str] = SlotQueue(limit, self._choose)

    def _choose(self, avoid: Collection[str]) -> str | None:
        self.asked += 1
        self.avoided.append(avoid)
        if self.refusals:
            self.refusals -= 1
            raise WorkerError(WorkerErrorCode.NO_WORKERS_AVAILABLE, "none left")
        return "slot" if self.free else None

    async def take(self, name: str, avoid: Collection[str] = ()) -> str:
        await self.queue.acquire(avoid)
        self.free -= 1
        assert self.free >= 0
        self.taken.append(name)
        return name

    def come(self, *names: str) -> list["asyncio.Task[str]"]:
        return [asyncio.create_task(self.take(name)) for name in names]

    def release(self, slots: int = 1) -> None:
        self.free += slots
        self.queue.notify()


@virtual_time
async def test_so_many_may_wait_and_no_more() -> None:
    slots = Slots(limit=2)
    slots.come("a", "b")
    await settle()
    with fails(WorkerErrorCode.QUEUE_FULL, "2 tasks wait for a slot, and queue_limit = 2"):
        await slots.take("c")
    slots.release()
    await settle()
    slots.come("d")
    await settle()
    assert len(slots.queue) == 2


@virtual_time
async def test_one_that_was_let_in_before_may_wait_beyond_the_limit_and_behind_the_others() -> None:
    slots = Slots(limit=1)
    slots.come("a")
    await settle()
    again = asyncio.create_task(slots.take("b", avoid=["w"]))
    await settle()
    assert len(slots.queue) == 2
    slots.release(2)
    await again
    assert slots.taken == ["a", "b"]


@virtual_time
async def test_all_who_wait_are_told_that_there_will_be_none() -> None:
    slots = Slots()
    waiting = slots.come("a", "b", "c")
    await settle()
    slots.refusals = 3
    slots.queue.notify()
    errors = await asyncio.gather(*waiting, return_exceptions=True)
    assert [getattr(error, "code", None) for error in errors] == [WorkerErrorCode.NO_WORKERS_AVAILABLE] * 3
    assert len({id(error) for error in errors}) == 3
    assert len(slots.queue) == 0


STEPS = st.lists(
    st.sampled_from(
        ["come", "come", "come", "release", "release", "cancel", "cancel first", "notify", "rest", "settle"]
    ),
    max_size=60,
)


@settings(deadline=None, max_examples=300)
@given(steps=STEPS, free=st.integers(0, 3), pick=st.randoms(use_true_random=False))
@virtual_time
async def test_in_any_interleaving_none_is_overtaken_and_no_slot_lies_idle(steps, free, pick) -> None:
    slots = Slots(free=free)
    callers: dict[str, asyncio.Task[str]] = {}
    cancelled: set[str] = set()
    given_out = free
    for step in steps:
        open_ones = [name for name, caller in callers.items() if not caller.done() and name not in cancelled]
        if step == "come":
            name = f"{len(callers):03}"
            callers[name] = slots.come(name)[0]
        elif step == "release":
            slots.release()
            given_out += 1
        elif step.startswith("cancel") and open_ones:
            name = open_ones[0] if step == "cancel first" else pick.choice(open_ones)
            callers[name].cancel()
            cancelled.add(name)
        elif step == "notify":
            slots.queue.notify()
        elif step == "rest":
            await asyncio.sleep(0)
        elif step == "settle":
            await settle()
            assert slots.free == 0 or len(slots.queue) == 0
    await settle()
    assert slots.taken == sorted(slots.taken)
    assert slots.free == 0 or len(slots.queue) == 0
    assert len(slots.taken) == given_out - slots.free
    still_waiting = [name for name, caller in callers.items() if not caller.done()]
    assert len(still_waiting) == len(slots.queue)
    assert not slots.taken or all(name > slots.taken[-1] for name in still_waiting)
    for caller in callers.values():
        caller.cancel()
    await settle()
    assert len(slots.queue) == 0
