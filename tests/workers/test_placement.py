"""Placement: the order in which callers get slots, and failing when no worker can become free."""

import asyncio
from collections.abc import Collection
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from fairlane.clock import system_rng
from fairlane.telemetry import Telemetry
from fairlane.workers import (
    Candidate,
    CheckOutcome,
    HealthReport,
    Strategy,
    WorkerError,
    WorkerErrorCode,
    WorkerGroup,
    make_strategy,
)
from fairlane.workers.executor.placement import Placement
from fairlane.workers.executor.slot_queue import SlotQueue
from fairlane.workers.members.metrics import SMOOTHING
from tests.support.virtual_time import VirtualClock, settle, virtual_time
from tests.support.worker_errors import fails
from tests.support.worker_workers import ScriptedWorker, new_task, sleep, started


class Slots:
    """Free slots, and the names of the callers that took one."""

    def __init__(self, limit: int = 1_000, *, free: int = 0) -> None:
        self.free = free
        self.taken: list[str] = []
        self.queue: SlotQueue[str] = SlotQueue(limit, self._choose)

    def _choose(self, avoid: Collection[str]) -> str | None:
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


class Plans:
    """A placement, and the workers that will be restarted."""

    def __init__(self, group: WorkerGroup[ScriptedWorker], *restarted: str, strategy: Strategy | None = None) -> None:
        self.restarted = set(restarted)
        self.placement = Placement(
            group,
            strategy or make_strategy("least-busy", system_rng(1)),
            "mine",
            queue_limit=10,
            will_restart=self.restarted.__contains__,
            clock=VirtualClock(),
            telemetry=Telemetry(),
        )


@virtual_time
async def test_it_hands_out_slots_only_while_it_is_open() -> None:
    [worker] = await started(ScriptedWorker("a"))
    placement = Plans(WorkerGroup([worker])).placement
    with pytest.raises(WorkerError, match="the manager is not running"):
        await placement.acquire(())
    placement.open()
    assert await placement.acquire(()) is worker
    placement.close()
    placement.refresh("a")
    with pytest.raises(WorkerError, match="the manager is not running"):
        await placement.acquire(())


@virtual_time
async def test_the_strategy_sees_each_change_of_a_worker() -> None:
    seen: list[Candidate] = []

    class Recorder(Faulty):
        def put(self, candidate: Candidate) -> None:
            seen.append(candidate)

    group = WorkerGroup([ScriptedWorker("a", capacity=2, weight=3, clock=VirtualClock())])
    Plans(group, strategy=Recorder()).placement.open()
    [worker] = await started(*group)
    await worker.execute(new_task(sleep), 2.0)
    with pytest.raises(WorkerError):
        await worker.execute(new_task(abs), "no number")
    group.record(HealthReport("a", CheckOutcome.ERROR, "", 0.0, 0.0, failures=3, successes=0, healthy=False))
    assert seen[0] == Candidate("a", 2, ready=False, weight=3)
    assert Candidate("a", 2, load=0, weight=3) in seen
    assert Candidate("a", 2, load=1, weight=3) in seen
    latency_s = 2.0 - SMOOTHING * 2.0
    assert seen[-1] == Candidate("a", 2, 0, False, 3, pytest.approx(latency_s), pytest.approx(SMOOTHING), 2)


class Faulty:
    """Chooses and raises what the test sets."""

    def __init__(self) -> None:
        self.chosen: object = None
        self.refused: Exception | None = None
        self.known: set[str] = set()

    def put(self, candidate: Candidate) -> None:
        if self.refused is not None:
            raise self.refused
        self.known.add(candidate.id)

    def remove(self, worker_id: str) -> None:
        raise KeyError(worker_id)

    def choose(self, avoid: Collection[str] = (), tasks: int = 1) -> Any:
        if isinstance(self.chosen, Exception):
            raise self.chosen
        return self.chosen

    def undo(self, worker_id: str, tasks: int = 1) -> None:
        pass


@pytest.mark.parametrize(
    ("chosen", "says"),
    [
        (ZeroDivisionError("by nothing"), "strategy mine failed to choose a worker: by nothing"),
        ("zzz", "strategy mine chose 'zzz', which is not a worker of the group"),
        ([], r"strategy mine chose \[\], which is not a worker of the group"),
    ],
)
@virtual_time
async def test_a_strategy_that_does_not_choose_is_at_fault(chosen: object, says: str) -> None:
    strategy = Faulty()
    plans = Plans(WorkerGroup(await started(ScriptedWorker("a"))), strategy=strategy)
    plans.placement.open()
    strategy.chosen = chosen
    with fails(WorkerErrorCode.INVALID_CONFIGURATION, says) as raised:
        await plans.placement.acquire(())
    assert raised.value.context == {"strategy": "mine"}
    assert raised.value.cause is (chosen if isinstance(chosen, Exception) else None)


@virtual_time
async def test_a_worker_that_the_strategy_does_not_take_in_is_not_waited_for(
    caplog: pytest.LogCaptureFixture,
) -> None:
    strategy = Faulty()
    group = WorkerGroup(await started(ScriptedWorker("a")))
    plans = Plans(group, strategy=strategy)
    plans.placement.open()
    waiting = asyncio.create_task(plans.placement.acquire(()))
    await settle()
    strategy.refused = ValueError("no weight")
    group.update("a", weight=7)
    with fails(WorkerErrorCode.NO_WORKERS_AVAILABLE, "no worker to wait for: 1 ready"):
        await waiting
    assert "strategy mine rejected worker a: no weight" in caplog.text
    strategy.refused, strategy.chosen = None, "a"
    group.update("a", weight=1)
    assert await plans.placement.acquire(()) is group.get("a")


@virtual_time
async def test_a_strategy_that_cannot_forget_a_worker_keeps_nobody_waiting() -> None:
    [worker] = await started(ScriptedWorker("a"))
    group = WorkerGroup([worker])
    plans = Plans(group, strategy=Faulty())
    plans.placement.open()
    waiting = asyncio.create_task(plans.placement.acquire(()))
    await settle()
    await group.remove("a")
    with fails(WorkerErrorCode.NO_WORKERS_AVAILABLE):
        await waiting


@virtual_time
async def test_a_worker_that_leaves_is_not_waited_for() -> None:
    [worker] = await started(ScriptedWorker("a", clock=VirtualClock()))
    group = WorkerGroup([worker])
    plans = Plans(group)
    plans.placement.open()
    running = asyncio.create_task(worker.execute(new_task(sleep), 60.0))
    await settle()
    waiting = asyncio.create_task(plans.placement.acquire(()))
    await settle()
    leaving = asyncio.create_task(group.remove("a", 3_600.0))
    with fails(WorkerErrorCode.NO_WORKERS_AVAILABLE):
        await asyncio.wait_for(waiting, 1.0)
    assert not running.done()
    await asyncio.gather(running, leaving)
