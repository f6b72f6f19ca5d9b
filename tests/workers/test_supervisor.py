"""The supervisor: its restarts, and starts that hang, removals, stops and observers that interfere."""

import asyncio
from collections.abc import Callable

import pytest

from fairlane.telemetry.names import RESTART, RESTARTS
from fairlane.workers import Member, Supervisor, SupervisorConfig, SupervisorEvent, WorkerGroup, WorkerStatus
from tests.support.virtual_time import VirtualClock, now_s, settle, virtual_time
from tests.support.worker_members import ScriptedMember, hang, ignore_cancellation, take
from tests.support.worker_supervised import CONFIG, GAVE_UP, RESTART_FAILED, RESTARTED, Supervised, failed


@virtual_time
async def test_a_worker_that_fails_is_restarted_after_its_backoff() -> None:
    member = ScriptedMember()
    world = Supervised(member)
    await member.start()
    async with world.supervisor:
        await asyncio.sleep(10)
        assert world.events == []
        member.fail("broken")
        await asyncio.sleep(0.9)
        assert member.status is WorkerStatus.FAILED
        await asyncio.sleep(0.2)
        assert member.status is WorkerStatus.READY
    assert world.events == [SupervisorEvent(RESTARTED, "w", 1, "")]
    assert world.observed_s == [11]
    assert world.recording.values(RESTARTS) == {("scripted", "restarted"): 1}
    assert world.recording.spans() == [(RESTART.name, {"worker.id": "w", "kind": "scripted"}, None, False)]


@virtual_time
async def test_waits_double_with_each_restart_up_to_the_cap_and_then_it_is_given_up(
    caplog: pytest.LogCaptureFixture,
) -> None:
    member = ScriptedMember(starts=[None, OSError("no port")])
    world = Supervised(member)
    await failed(member)
    async with world.supervisor:
        await asyncio.sleep(1_000)
        assert not world.supervisor.will_restart("w")
    assert world.observed() == [
        (RESTART_FAILED, 1, 1),
        (RESTART_FAILED, 3, 2),
        (RESTART_FAILED, 7, 3),
        (RESTART_FAILED, 15, 4),
        (RESTART_FAILED, 23, 5),
        (GAVE_UP, 23, 5),
    ]
    assert world.events[0].reason == "worker w did not start: no port"
    assert world.events[5].reason == "it failed again after 5 restarts within 60 s"
    assert world.recording.values(RESTARTS) == {("scripted", "failed"): 5, ("scripted", "given_up"): 1}
    assert {problem for _, _, problem, _ in world.recording.spans()} == {"worker_start_failed"}
    assert "worker w: given_up; 5 restarts within the window" in caplog.text


@virtual_time
async def test_restarts_older_than_the_window_are_forgotten() -> None:
    member = ScriptedMember()
    world = Supervised(member, config=CONFIG.model_copy(update={"max_restarts": 2, "window_ms": 10_000}))
    await member.start()
    async with world.supervisor:
        for at_s in (0, 5, 12, 30):
            await asyncio.sleep(at_s - now_s())
            member.fail("broken")
        await asyncio.sleep(10)
    assert world.observed() == [(RESTARTED, 1, 1), (RESTARTED, 7, 2), (RESTARTED, 14, 2), (RESTARTED, 31, 1)]


@virtual_time
async def test_a_failure_right_after_the_start_is_not_missed() -> None:
    member = ScriptedMember()
    world = Supervised(member)

    def fail_when_ready(seen: Member) -> None:
        if seen.status is WorkerStatus.READY and len(member.started_s) < 3:
            asyncio.get_running_loop().call_soon(seen.fail, "at once")

    await failed(member)
    member.watch(fail_when_ready)
    async with world.supervisor:
        await asyncio.sleep(100)
    assert [event.kind for event in world.events] == [RESTARTED, RESTARTED, RESTARTED]
    assert member.status is WorkerStatus.READY


@virtual_time
async def test_who_was_given_up_is_left_alone_until_removed_and_added_anew() -> None:
    member = ScriptedMember()
    world = Supervised(member, config=CONFIG.model_copy(update={"max_restarts": 1}))
    await failed(member)
    async with world.supervisor:
        await asyncio.sleep(2)
        member.fail("again")
        await asyncio.sleep(200)
        await member.start()
        member.fail("and again")
        await asyncio.sleep(200)
        assert [event.kind for event in world.events] == [RESTARTED, GAVE_UP]
        await world.group.remove("w")
        await member.start()
        member.fail("once more")
        world.group.add(member)
        assert world.supervisor.will_restart("w")
        await asyncio.sleep(200)
    assert [event.kind for event in world.events] == [RESTARTED, GAVE_UP, RESTARTED]


@virtual_time
async def test_it_is_known_who_will_be_restarted() -> None:
    member = ScriptedMember(starts=[None, take(0.25)])
    world = Supervised(member)
    will_restart = world.supervisor.will_restart
    await failed(member)
    assert not will_restart("w")
    async with world.supervisor:
        assert will_restart("w")
        assert not will_restart("unknown")
        await asyncio.sleep(1.1)
        assert (member.status, will_restart("w")) == (WorkerStatus.STARTING, True)
        await asyncio.sleep(1)
        assert (member.status, will_restart("w")) == (WorkerStatus.READY, False)
        member.fail("broken")
        assert will_restart("w")
        await world.group.remove("w")
        assert not will_restart("w")
        world.group.add(member)
        assert (member.status, will_restart("w")) == (WorkerStatus.STOPPED, False)
        member.starts = [None]
        await failed(member)
        assert will_restart("w")
    assert not will_restart("w")


@virtual_time
async def test_whoever_is_told_of_a_failed_newcomer_first_learns_that_it_will_be_restarted() -> None:
    member = ScriptedMember()
    await failed(member)
    world = Supervised()
    hopes: list[bool] = []
    world.group.subscribe(lambda event: hopes.append(world.supervisor.will_restart(event.member.id)))
    async with world.supervisor:
        world.group.add(member)
    assert hopes[0]


@virtual_time
async def test_a_start_that_takes_too_long_is_cancelled_and_tried_again() -> None:
    member = ScriptedMember(starts=[None, hang, None])
    world = Supervised(member)
    await failed(member)
    async with world.supervisor:
        await asyncio.sleep(10)
    assert world.observed() == [(RESTART_FAILED, 1.5, 1), (RESTARTED, 3.5, 2)]
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
    assert world.observed() == [(RESTART_FAILED, 1, 1), (RESTARTED, 3, 2)]
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


@pytest.mark.parametrize("end", [lambda world, _: world.group.remove("w"), lambda _, member: member.stop()])
@virtual_time
async def test_a_removal_or_a_stop_at_the_very_time_of_the_restart_leaves_it_stopped(end) -> None:
    for head_start in range(12):
        member = ScriptedMember(starts=[None, take(0.1)])
        world = Supervised(member, config=CONFIG.model_copy(update={"backoff_base_ms": 0}))
        await failed(member)
        async with world.supervisor:
            for _ in range(head_start):
                await asyncio.sleep(0)
            await end(world, member)
            assert member.status is WorkerStatus.STOPPED
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


class Watched(ScriptedMember):
    """Counts how often somebody begins to watch it."""

    watches = 0

    def watch(self, watcher: Callable[[Member], None]) -> Callable[[], None]:
        self.watches += 1
        return super().watch(watcher)


@virtual_time
async def test_its_supervisor_does_nothing_while_it_leaves() -> None:
    member = Watched()
    world = Supervised(member, config=SupervisorConfig(backoff_base_ms=0))
    await failed(member)
    member._change_load(1)
    async with world.supervisor:
        removal = asyncio.create_task(world.group.remove("w"))
        await settle()
        watches = member.watches
        await asyncio.sleep(100)
        assert (member.status, member.started_s, member.watches) == (WorkerStatus.FAILED, [], watches)
        member._change_load(-1)
        await removal
    assert world.events == []


class Reluctant(ScriptedMember):
    """Cannot be drained."""

    async def drain(self) -> None:
        await asyncio.sleep(10)
        raise OSError("cannot drain")


@virtual_time
async def test_one_whose_removal_fails_is_cared_for_again() -> None:
    member = Reluctant()
    world = Supervised(member)
    await failed(member)
    async with world.supervisor:
        with pytest.raises(OSError, match="cannot drain"):
            await world.group.remove("w")
        assert member.started_s == []
        await asyncio.sleep(10)
        assert (member.status, world.observed()) == (WorkerStatus.READY, [(RESTARTED, 11, 1)])


@virtual_time
async def test_it_needs_no_observer() -> None:
    member = ScriptedMember()
    await failed(member)
    async with Supervisor(WorkerGroup([member]), CONFIG, clock=VirtualClock()):
        await asyncio.sleep(100)
    assert member.status is WorkerStatus.READY
