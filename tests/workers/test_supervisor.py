"""The supervisor: who is restarted, when, how often, and what comes in between."""

import asyncio

import pytest

from fairlane.telemetry.names import RESTART, RESTARTS
from fairlane.workers.errors import WorkerError
from fairlane.workers.members.group import WorkerGroup
from fairlane.workers.members.member import Member
from fairlane.workers.members.status import WorkerStatus
from fairlane.workers.members.supervisor import Supervisor, SupervisorEvent
from tests.support.virtual_time import now_s, settle, virtual_time
from tests.support.worker_members import ScriptedMember, take
from tests.support.worker_supervised import CONFIG, GAVE_UP, RESTART_FAILED, RESTARTED, Supervised, failed

# -- who and when --------------------------------------------------------------------------------------------


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
    assert world.told_s == [11]
    assert world.recording.values(RESTARTS) == {("scripted", "restarted"): 1}
    assert world.recording.spans() == [(RESTART.name, {"worker.id": "w", "kind": "scripted"}, None, False)]


@virtual_time
async def test_who_had_failed_before_it_began_is_restarted_and_so_is_who_comes_failed() -> None:
    early, late = ScriptedMember("early"), ScriptedMember("late")
    await failed(early, late)
    world = Supervised(early)
    async with world.supervisor:
        await asyncio.sleep(5)
        world.group.add(late)
        await asyncio.sleep(5)
    assert world.told() == [(RESTARTED, 1, 1), (RESTARTED, 6, 1)]


@virtual_time
async def test_a_first_start_that_failed_counts_as_a_failure() -> None:
    member = ScriptedMember(starts=[OSError("no port"), None])
    world = Supervised(member)
    async with world.supervisor:
        with pytest.raises(WorkerError, match="no port"):
            await member.start()
        await asyncio.sleep(5)
    assert world.told() == [(RESTARTED, 1, 1)]


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
    assert world.told() == [
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
async def test_full_jitter_waits_up_to_the_bound() -> None:
    class Half:
        def uniform(self, low: float, high: float) -> float:
            return (low + high) / 2

    member = ScriptedMember()
    await failed(member)
    world = Supervised(member, rng=Half())
    async with world.supervisor:
        await asyncio.sleep(5)
    assert world.told() == [(RESTARTED, 0.5, 1)]


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
    assert world.told() == [(RESTARTED, 1, 1), (RESTARTED, 7, 2), (RESTARTED, 14, 2), (RESTARTED, 31, 1)]


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
async def test_two_workers_are_restarted_independently() -> None:
    slow, quick = ScriptedMember("slow", starts=[None, take(0.4)]), ScriptedMember("quick")
    await failed(slow)
    await quick.start()
    world = Supervised(slow, quick)
    async with world.supervisor:
        await asyncio.sleep(0.1)
        quick.fail("broken")
        await asyncio.sleep(5)
    assert [(event.worker_id, at_s) for event, at_s in zip(world.events, world.told_s, strict=True)] == [
        ("quick", 1.1),
        ("slow", 1.4),
    ]


@virtual_time
async def test_no_restart_is_allowed() -> None:
    member = ScriptedMember()
    await failed(member)
    world = Supervised(member, config=CONFIG.model_copy(update={"max_restarts": 0}))
    async with world.supervisor:
        await asyncio.sleep(100)
    assert world.told() == [(GAVE_UP, 0, 0)]
    assert member.status is WorkerStatus.FAILED


# -- given up ------------------------------------------------------------------------------------------------


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
async def test_at_the_time_it_is_told_a_worker_that_was_given_up_will_not_be_restarted() -> None:
    member = ScriptedMember()
    await failed(member)
    hopes: list[bool] = []
    group = WorkerGroup([member])
    supervisor = Supervisor(
        group,
        CONFIG.model_copy(update={"max_restarts": 0}),
        observer=lambda event: hopes.append(supervisor.will_restart(event.worker_id)),
    )
    async with supervisor:
        await settle()
    assert hopes == [False]


# -- who will be restarted -----------------------------------------------------------------------------------


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
