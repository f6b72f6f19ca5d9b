"""The pool: members come, change and go, and whoever listens hears of it in order."""

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
    return HealthReport(worker_id, outcome, "", 0.0, 0.0, failures=0 if well else 3, successes=int(well), well=well)


def _code(raised: pytest.ExceptionInfo[WorkerError]) -> WorkerErrorCode:
    return raised.value.code


# -- who is there --------------------------------------------------------------------------------------------


async def test_members_are_kept_by_id_in_the_order_in_which_they_came() -> None:
    b, a = ScriptedWorker("b"), ScriptedWorker("a")
    pool = WorkerGroup([b])
    pool.add(a)
    assert pool.list() == tuple(pool) == (b, a)
    assert (len(pool), "a" in pool, "c" in pool, pool.get("a") is a) == (2, True, False, True)


async def test_an_id_is_taken_once() -> None:
    with pytest.raises(WorkerError, match="already has a worker a") as raised:
        WorkerGroup([ScriptedWorker("a"), ScriptedWorker("a")])
    assert _code(raised) is WorkerErrorCode.WORKER_ALREADY_EXISTS


async def test_who_is_not_there_is_named() -> None:
    pool: WorkerGroup[ScriptedWorker] = WorkerGroup()
    for ask in (pool.get, pool.report, pool.update, lambda name: pool.available(ScriptedWorker(name))):
        with pytest.raises(WorkerError, match="no worker a") as raised:
            ask("a")
        assert _code(raised) is WorkerErrorCode.WORKER_NOT_FOUND
        assert raised.value.context == {"worker": "a"}
    with pytest.raises(WorkerError, match="no worker a"):
        await pool.remove("a")


# -- updates -------------------------------------------------------------------------------------------------


async def test_an_update_changes_what_it_names_and_nothing_else() -> None:
    pool = WorkerGroup([ScriptedWorker("a", capacity=2, tags={"x"}, metadata={"k": "v"})])
    heard = listen(pool)
    before = pool.get("a").info
    info = pool.update("a", weight=7)
    assert info == pool.get("a").info == before.model_copy(update={"weight": 7})
    assert heard == [f"updated a {before}>{info}"]
    info = pool.update("a", capacity=3, tags=["y", "z"], metadata={})
    assert (info.capacity, info.weight, info.tags, info.metadata) == (3, 7, frozenset("yz"), {})


async def test_an_update_that_cannot_be_changes_nothing() -> None:
    pool = WorkerGroup([ScriptedWorker("a")])
    before = pool.get("a").info
    heard = listen(pool)
    with pytest.raises(WorkerError, match="capacity = 0") as raised:
        pool.update("a", capacity=0)
    assert _code(raised) is WorkerErrorCode.INVALID_CONFIGURATION
    assert pool.get("a").info is before
    assert heard == []


async def test_a_change_of_capacity_decides_anew_whether_there_is_a_free_slot() -> None:
    [worker] = await started(ScriptedWorker("a", capacity=2))
    pool = WorkerGroup([worker])
    gate = asyncio.Event()
    running = busy(worker, gate)
    await asyncio.sleep(0)
    heard = listen(pool)
    pool.update("a", capacity=1)
    assert worker.status is WorkerStatus.BUSY
    pool.update("a", capacity=2)
    assert worker.status is WorkerStatus.READY
    assert [line for line in heard if line.startswith("status")] == ["status a ready>busy", "status a busy>ready"]
    gate.set()
    await running


# -- events --------------------------------------------------------------------------------------------------


async def test_every_change_is_told_once_with_what_it_was_before() -> None:
    pool: WorkerGroup[ScriptedWorker] = WorkerGroup()
    heard = listen(pool)
    worker = ScriptedWorker("a")
    pool.add(worker)
    await worker.start()
    await worker.execute(Task(lambda value: value, task_id="t", created_s=0), 1)
    report = _report("a", well=True)
    pool.record(report)
    await pool.remove("a")
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
    pool: WorkerGroup[ScriptedWorker] = WorkerGroup()
    heard: list[str] = []
    end_second = lambda: None  # noqa: E731

    def first(event: MemberEvent) -> None:
        heard.append(f"first {event.member.id}")
        end_second()

    end_first = pool.subscribe(first)
    end_second = pool.subscribe(lambda event: heard.append(f"second {event.member.id}"))
    pool.add(ScriptedWorker("a"))
    end_first()
    end_first()
    pool.add(ScriptedWorker("b"))
    assert heard == ["first a"]


async def test_an_observer_that_raises_hurts_nobody(caplog: pytest.LogCaptureFixture) -> None:
    pool: WorkerGroup[ScriptedWorker] = WorkerGroup(logger=logging.getLogger("test"))

    def broken(event: MemberEvent) -> None:
        raise ValueError("broken observer")

    pool.subscribe(broken)
    heard = listen(pool)
    worker = ScriptedWorker("a")
    pool.add(worker)
    await worker.start()
    assert worker.status is WorkerStatus.READY
    assert len(heard) == 3
    assert "an observer of added of worker a failed" in caplog.text
    assert "broken observer" in caplog.text


async def test_all_hear_the_same_order_although_one_of_them_makes_changes() -> None:
    pool: WorkerGroup[ScriptedWorker] = WorkerGroup()

    def fail_it(event: MemberEvent) -> None:
        if event.after is WorkerStatus.READY:
            event.member.fail("it is not wanted")

    pool.subscribe(fail_it)
    heard = listen(pool)
    worker = ScriptedWorker("a")
    pool.add(worker)
    await worker.start()
    assert heard[2:] == ["status a starting>ready", "status a ready>failed"]


# -- what a strategy is told ---------------------------------------------------------------------------------


async def test_only_a_ready_and_well_member_is_available() -> None:
    worker = ScriptedWorker("a", capacity=1, weight=3)
    pool = WorkerGroup([worker])
    assert not pool.available(worker)
    assert not pool.candidate(worker).ready
    await worker.start()
    assert pool.available(worker)
    pool.record(_report("a", well=False))
    assert not pool.available(worker)
    assert not pool.candidate(worker).ready
    report = _report("a", well=True)
    pool.record(report)
    assert pool.report("a") is report
    assert pool.available(worker)

    gate = asyncio.Event()
    running = busy(worker, gate)
    await asyncio.sleep(0)
    full = pool.candidate(worker)
    assert (full.id, full.capacity, full.load, full.weight, full.ready, full.available) == ("a", 1, 1, 3, True, False)
    assert not pool.available(worker)
    gate.set()
    await running
    done = pool.candidate(worker)
    assert (done.load, done.error_rate, done.available) == (0, 0.0, True)
    assert done.latency_s is not None


async def test_a_report_on_one_that_left_is_dropped() -> None:
    pool: WorkerGroup[ScriptedWorker] = WorkerGroup()
    heard = listen(pool)
    pool.record(_report("a", well=False))
    assert heard == []
    pool.add(ScriptedWorker("a"))
    assert pool.report("a") is None
