"""The supervisor among starts that hang, removals, stops and observers that raise."""

import asyncio
import logging
from collections.abc import Callable

import pytest

from fairlane.workers.members.group import WorkerGroup
from fairlane.workers.members.member import Member
from fairlane.workers.members.status import WorkerStatus
from fairlane.workers.members.supervisor import Supervisor, SupervisorEvent
from tests.support.virtual_time import VirtualClock, now_s, settle, virtual_time
from tests.support.worker_members import ScriptedMember, hang, ignore_cancellation, take
from tests.support.worker_supervised import CONFIG, RESTART_FAILED, RESTARTED, Supervised, failed

# -- what comes in between -----------------------------------------------------------------------------------


@virtual_time
async def test_a_start_that_takes_too_long_is_cancelled_and_tried_again() -> None:
    member = ScriptedMember(starts=[None, hang, None])
    world = Supervised(member)
    await failed(member)
    async with world.supervisor:
        await asyncio.sleep(10)
    assert world.told() == [(RESTART_FAILED, 1.5, 1), (RESTARTED, 3.5, 2)]
    assert world.events[0].reason == "it did not start within 0.5 s"


@virtual_time
async def test_a_start_that_was_cancelled_from_within_is_tried_again() -> None:
    class Cancelling(ScriptedMember):
        async def start(self) -> None:
            await super().start()
            if len(self.started_s) == 1:
                self.fail("broken")
                raise asyncio.CancelledError

    member = Cancelling()
    world = Supervised(member)
    with pytest.raises(asyncio.CancelledError):
        await member.start()
    member.started_s.clear()
    async with world.supervisor:
        await asyncio.sleep(10)
    assert world.told() == [(RESTART_FAILED, 1, 1), (RESTARTED, 3, 2)]
    assert world.events[0].reason == "its start was cancelled"


class Stubborn(ScriptedMember):
    """Neither a cancellation nor anything else ends its second start before the event."""

    def __init__(self, worker_id: str = "w") -> None:
        super().__init__(worker_id)
        self.end = asyncio.Event()

    async def start(self) -> None:
        if self.status is WorkerStatus.FAILED and not self.end.is_set():
            self.started_s.append(now_s())
            self._move(WorkerStatus.STARTING)
            await ignore_cancellation(self.end)()  # type: ignore[misc, operator]
            if self.status is WorkerStatus.STARTING:
                self._move(WorkerStatus.FAILED)
            raise OSError("too late")
        await super().start()


@virtual_time
async def test_a_start_that_ignores_its_cancellation_is_never_doubled_and_delays_no_other() -> None:
    stubborn, other = Stubborn("stubborn"), ScriptedMember("other")
    world = Supervised(stubborn, other)
    await failed(stubborn, other)
    async with world.supervisor:
        await asyncio.sleep(100)
        assert stubborn.started_s == [1]
        assert [event.worker_id for event in world.events] == ["other"]
        stubborn.end.set()
        await asyncio.sleep(100)
    assert [(event.worker_id, event.kind, event.reason) for event in world.events[1:]] == [
        ("stubborn", RESTART_FAILED, "too late"),
        ("stubborn", RESTARTED, ""),
    ]


@virtual_time
async def test_it_ends_although_a_start_does_not(caplog: pytest.LogCaptureFixture) -> None:
    member = Stubborn()
    world = Supervised(member)
    await failed(member)
    async with world.supervisor:
        await asyncio.sleep(1.1)
    assert now_s() == pytest.approx(1.6)
    assert "abandoned calls that ignore their cancellation: Supervisor of w" in caplog.text
    assert world.events == []
    member.end.set()
    await settle()


@virtual_time
async def test_added_anew_during_a_start_that_still_hangs_it_is_not_started_twice() -> None:
    member = Stubborn()
    world = Supervised(member)
    await failed(member)
    async with world.supervisor:
        await asyncio.sleep(1.1)
        await world.group.remove("w")
        world.group.add(member)
        await ScriptedMember.start(member)
        member.fail("again")
        member.started_s.clear()
        await asyncio.sleep(10)
        assert (member.status, member.started_s) == (WorkerStatus.FAILED, [])
        member.end.set()
        await asyncio.sleep(10)
        assert (member.status, len(member.started_s)) == (WorkerStatus.READY, 1)


@virtual_time
async def test_whoever_is_quicker_restarts_it() -> None:
    member = ScriptedMember()
    world = Supervised(member)
    await failed(member)
    async with world.supervisor:
        await asyncio.sleep(0.5)
        await member.start()
        await asyncio.sleep(100)
    assert (member.started_s, world.events) == ([0.5], [])


@virtual_time
async def test_a_removal_cancels_the_restart_that_is_due() -> None:
    member = ScriptedMember()
    world = Supervised(member)
    await failed(member)
    async with world.supervisor:
        await asyncio.sleep(0.5)
        await world.group.remove("w")
        await asyncio.sleep(100)
    assert (member.status, member.started_s, world.events) == (WorkerStatus.STOPPED, [], [])


@virtual_time
async def test_a_removal_at_the_very_time_of_the_restart_leaves_it_stopped() -> None:
    for head_start in range(12):
        member = ScriptedMember(starts=[None, take(0.1)])
        world = Supervised(member, config=CONFIG.model_copy(update={"backoff_base_ms": 0}))
        await failed(member)
        async with world.supervisor:
            for _ in range(head_start):
                await asyncio.sleep(0)
            await world.group.remove("w")
            assert member.status is WorkerStatus.STOPPED
            await asyncio.sleep(10)
            assert member.status is WorkerStatus.STOPPED


@virtual_time
async def test_a_stop_at_the_very_time_of_the_restart_leaves_it_stopped() -> None:
    for head_start in range(12):
        member = ScriptedMember(starts=[None, take(0.1)])
        world = Supervised(member, config=CONFIG.model_copy(update={"backoff_base_ms": 0}))
        await failed(member)
        async with world.supervisor:
            for _ in range(head_start):
                await asyncio.sleep(0)
            await member.stop()
            await asyncio.sleep(10)
            assert member.status is WorkerStatus.STOPPED


@virtual_time
async def test_its_end_cancels_what_it_had_begun() -> None:
    waiting, starting = ScriptedMember("waiting"), ScriptedMember("starting", starts=[None, hang])
    world = Supervised(waiting, starting)
    await failed(starting)
    async with world.supervisor:
        await asyncio.sleep(0.75)
        await failed(waiting)
        await asyncio.sleep(0.5)
        assert starting.status is WorkerStatus.STARTING
    assert now_s() == 1.25
    await asyncio.sleep(100)
    assert (waiting.status, starting.status) == (WorkerStatus.FAILED, WorkerStatus.FAILED)
    assert world.events == []


@virtual_time
async def test_at_its_end_no_task_of_its_own_is_left_and_nobody_is_watched() -> None:
    watching: list[object] = []

    class Counted(ScriptedMember):
        def watch(self, watcher: Callable[[Member], None]) -> Callable[[], None]:
            end_watching = super().watch(watcher)
            watching.append(watcher)

            def end() -> None:
                watching.remove(watcher)
                end_watching()

            return end

    well, waiting = Counted("well"), Counted("waiting")
    world = Supervised(well, waiting)
    by_the_pool = len(watching)
    await failed(waiting, well)
    async with world.supervisor:
        await asyncio.sleep(1.5)
        waiting.fail("again")
        await asyncio.sleep(0.5)
        assert len(watching) == by_the_pool + 1
    assert len(watching) == by_the_pool
    assert asyncio.all_tasks() == {asyncio.current_task()}


@virtual_time
async def test_an_observer_that_raises_is_logged_and_disturbs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def complain(_: SupervisorEvent) -> None:
        raise ValueError("bad observer")

    member = ScriptedMember(starts=[None, OSError("no port"), None])
    group = WorkerGroup([member])
    await failed(member)
    async with Supervisor(group, CONFIG, clock=VirtualClock(), observer=complain):
        await asyncio.sleep(100)
    assert member.status is WorkerStatus.READY
    assert "bad observer" in caplog.text


@virtual_time
async def test_without_an_observer_it_is_told_by_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    member = ScriptedMember()
    await failed(member)
    async with Supervisor(WorkerGroup([member]), CONFIG):
        await asyncio.sleep(100)
    assert "worker w: restarted; 1 restarts within the window" in caplog.text


@virtual_time
async def test_who_is_leaving_is_not_restarted() -> None:
    member = ScriptedMember()
    world = Supervised(member)
    await member.start()
    member._change_load(1)  # something runs, so that the removal waits
    async with world.supervisor:
        removal = asyncio.ensure_future(world.group.remove("w"))
        await settle()
        removal.cancel()
        await settle()
        member.fail("while it leaves")
        assert not world.supervisor.will_restart("w")
        await asyncio.sleep(100)
    assert (member.status, world.events) == (WorkerStatus.FAILED, [])
