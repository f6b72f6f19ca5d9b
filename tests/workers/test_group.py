"""The group: members come, change and go, and whoever listens hears of it in order."""

import asyncio
import logging

import pytest

from fairlane.workers.errors import WorkerError, WorkerErrorCode
from fairlane.workers.executor.task import Task
from fairlane.workers.members.events import MemberEvent
from fairlane.workers.members.group import WorkerGroup
from fairlane.workers.members.health_report import CheckOutcome, HealthReport
from fairlane.workers.members.status import WorkerStatus
from tests.support.worker_watched import busy, listen
from tests.support.worker_workers import ScriptedWorker, started


def _report(worker_id: str, *, well: bool) -> HealthReport:
    outcome = CheckOutcome.HEALTHY if well else CheckOutcome.ERROR
    return HealthReport(worker_id, outcome, "", 0.0, 0.0, failures=0 if well else 3, successes=int(well), healthy=well)


def _code(raised: pytest.ExceptionInfo[WorkerError]) -> WorkerErrorCode:
    return raised.value.code


# -- who is there --------------------------------------------------------------------------------------------


async def test_members_are_kept_by_id_in_the_order_in_which_they_came() -> None:
    b, a = ScriptedWorker("b"), ScriptedWorker("a")
    group = WorkerGroup([b])
    group.add(a)
    assert group.list() == tuple(group) == (b, a)
    assert (len(group), "a" in group, "c" in group, group.get("a") is a) == (2, True, False, True)


async def test_an_id_is_taken_once() -> None:
    with pytest.raises(WorkerError, match="already has a worker a") as raised:
        WorkerGroup([ScriptedWorker("a"), ScriptedWorker("a")])
    assert _code(raised) is WorkerErrorCode.WORKER_ALREADY_EXISTS


async def test_who_is_not_there_is_named() -> None:
    group: WorkerGroup[ScriptedWorker] = WorkerGroup()
    for ask in (group.get, group.report, group.update, group.accepts_tasks):
        with pytest.raises(WorkerError, match="no worker a") as raised:
            ask("a")
        assert _code(raised) is WorkerErrorCode.WORKER_NOT_FOUND
        assert raised.value.context == {"worker": "a"}
    with pytest.raises(WorkerError, match="no worker a"):
        await group.remove("a")


# -- updates -------------------------------------------------------------------------------------------------


async def test_an_update_changes_what_it_names_and_nothing_else() -> None:
    group = WorkerGroup([ScriptedWorker("a", capacity=2, tags={"x"}, metadata={"k": "v"})])
    heard = listen(group)
    before = group.get("a").info
    info = group.update("a", weight=7)
    assert info == group.get("a").info == before.model_copy(update={"weight": 7})
    assert heard == [f"updated a {before}>{info}"]
    info = group.update("a", capacity=3, tags=["y", "z"], metadata={})
    assert (info.capacity, info.weight, info.tags, info.metadata) == (3, 7, frozenset("yz"), {})


async def test_an_update_that_cannot_be_changes_nothing() -> None:
    group = WorkerGroup([ScriptedWorker("a")])
    before = group.get("a").info
    heard = listen(group)
    with pytest.raises(WorkerError, match="capacity = 0") as raised:
        group.update("a", capacity=0)
    assert _code(raised) is WorkerErrorCode.INVALID_CONFIGURATION
    assert group.get("a").info is before
    assert heard == []


async def test_a_change_of_capacity_decides_anew_whether_there_is_a_free_slot() -> None:
    [worker] = await started(ScriptedWorker("a", capacity=2))
    group = WorkerGroup([worker])
    gate = asyncio.Event()
    running = busy(worker, gate)
    await asyncio.sleep(0)
    heard = listen(group)
    group.update("a", capacity=1)
    assert worker.status is WorkerStatus.BUSY
    group.update("a", capacity=2)
    assert worker.status is WorkerStatus.READY
    assert [line for line in heard if line.startswith("status")] == ["status a ready>busy", "status a busy>ready"]
    gate.set()
    await running


# -- events --------------------------------------------------------------------------------------------------


async def test_every_change_is_told_once_with_what_it_was_before() -> None:
    group: WorkerGroup[ScriptedWorker] = WorkerGroup()
    heard = listen(group)
    worker = ScriptedWorker("a")
    group.add(worker)
    await worker.start()
    await worker.execute(Task(lambda value: value, task_id="t", created_s=0), 1)
    report = _report("a", well=True)
    group.record(report)
    await group.remove("a")
    await worker.start()
    assert heard == [
        "added a",
        "status a created>starting",
        "status a starting>ready",
        "status a ready>busy",
        "load a 0>1",
        "status a busy>ready",
        "load a 1>0",
        f"health a None>{report}",
        "leaving a False>True",
        "status a ready>draining",
        "status a draining>stopped",
        "removed a",
    ]


async def test_who_has_ended_listening_hears_nothing_more() -> None:
    group: WorkerGroup[ScriptedWorker] = WorkerGroup()
    heard: list[str] = []
    end_second = lambda: None  # noqa: E731

    def first(event: MemberEvent) -> None:
        heard.append(f"first {event.member.id}")
        end_second()

    end_first = group.subscribe(first)
    end_second = group.subscribe(lambda event: heard.append(f"second {event.member.id}"))
    group.add(ScriptedWorker("a"))
    end_first()
    end_first()
    group.add(ScriptedWorker("b"))
    assert heard == ["first a"]


async def test_an_observer_that_raises_hurts_nobody(caplog: pytest.LogCaptureFixture) -> None:
    group: WorkerGroup[ScriptedWorker] = WorkerGroup(logger=logging.getLogger("test"))

    def broken(event: MemberEvent) -> None:
        raise ValueError("broken observer")

    group.subscribe(broken)
    heard = listen(group)
    worker = ScriptedWorker("a")
    group.add(worker)
    await worker.start()
    assert worker.status is WorkerStatus.READY
    assert len(heard) == 3
    assert "an observer of added of worker a failed" in caplog.text
    assert "broken observer" in caplog.text


async def test_all_hear_the_same_order_although_one_of_them_makes_changes() -> None:
    group: WorkerGroup[ScriptedWorker] = WorkerGroup()

    def fail_it(event: MemberEvent) -> None:
        if event.after is WorkerStatus.READY:
            event.member.fail("it is not wanted")

    group.subscribe(fail_it)
    heard = listen(group)
    worker = ScriptedWorker("a")
    group.add(worker)
    await worker.start()
    assert heard[2:] == ["status a starting>ready", "status a ready>failed"]


# -- health --------------------------------------------------------------------------------------------------


async def test_only_a_healthy_member_at_work_accepts_tasks() -> None:
    worker = ScriptedWorker("a")
    group = WorkerGroup([worker])
    assert not group.accepts_tasks("a")
    await worker.start()
    assert group.accepts_tasks("a")
    group.record(_report("a", well=False))
    assert not group.accepts_tasks("a")
    report = _report("a", well=True)
    group.record(report)
    assert group.report("a") is report
    assert group.accepts_tasks("a")
    await worker.stop()
    assert not group.accepts_tasks("a")


async def test_a_report_on_one_that_left_is_dropped() -> None:
    group: WorkerGroup[ScriptedWorker] = WorkerGroup()
    heard = listen(group)
    group.record(_report("a", well=False))
    assert heard == []
    group.add(ScriptedWorker("a"))
    assert group.report("a") is None
