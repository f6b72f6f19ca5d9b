"""The group: members come, change, are searched for and leave; observers see all of it in order."""

import asyncio
import logging

import pytest

from fairlane.workers import (
    CheckOutcome,
    Criteria,
    HealthReport,
    Manager,
    MemberEvent,
    SupervisorConfig,
    Task,
    WorkerError,
    WorkerErrorCode,
    WorkerGroup,
    WorkerStatus,
)
from tests.support.virtual_time import VirtualClock, settle, virtual_time
from tests.support.worker_errors import fails
from tests.support.worker_gated import code_of, insist_for
from tests.support.worker_watched import busy, listen
from tests.support.worker_workers import ScriptedWorker, double, started, unattended


def _report(worker_id: str, *, well: bool) -> HealthReport:
    outcome = CheckOutcome.HEALTHY if well else CheckOutcome.ERROR
    return HealthReport(worker_id, outcome, "", 0.0, 0.0, failures=0 if well else 3, successes=int(well), healthy=well)


def _code(raised: pytest.ExceptionInfo[WorkerError]) -> WorkerErrorCode:
    return raised.value.code


async def test_members_are_kept_by_id_in_the_order_in_which_they_came() -> None:
    b, a = ScriptedWorker("b"), ScriptedWorker("a")
    group = WorkerGroup([b])
    group.add(a)
    assert group.list() == tuple(group) == (b, a)
    assert (len(group), "a" in group, "c" in group, group.get("a") is a) == (2, True, False, True)


async def test_an_id_is_taken_once() -> None:
    with fails(WorkerErrorCode.WORKER_ALREADY_EXISTS, "already has a worker a"):
        WorkerGroup([ScriptedWorker("a"), ScriptedWorker("a")])


async def test_who_is_not_there_is_named() -> None:
    group: WorkerGroup[ScriptedWorker] = WorkerGroup()
    for ask in (group.get, group.report, group.update, group.accepts_tasks):
        with fails(WorkerErrorCode.WORKER_NOT_FOUND, "no worker a") as raised:
            ask("a")
        assert raised.value.context == {"worker": "a"}
    with pytest.raises(WorkerError, match="no worker a"):
        await group.remove("a")


async def test_an_update_changes_what_it_names_and_nothing_else() -> None:
    group = WorkerGroup([ScriptedWorker("a", capacity=2, tags={"x"}, metadata={"k": "v"})])
    heard = listen(group)
    before = group.get("a").info
    info = group.update("a", weight=7)
    assert info == group.get("a").info == before.model_copy(update={"weight": 7})
    assert heard == [f"updated a {before}>{info}"]
    info = group.update("a", capacity=3, tags=["y", "z"], metadata={})
    assert (info.capacity, info.weight, info.tags, info.metadata) == (3, 7, frozenset("yz"), {})


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


async def test_one_that_is_restarted_while_it_leaves_gets_no_task() -> None:
    [worker] = await started(ScriptedWorker("a", capacity=2))
    group = WorkerGroup([worker])
    gate = asyncio.Event()
    running = busy(worker, gate)
    await asyncio.sleep(0)
    removal = asyncio.ensure_future(group.remove("a"))
    await asyncio.sleep(0)
    worker.fail("while it leaves")
    await worker.start()
    assert worker.status is WorkerStatus.READY
    assert not group.accepts_tasks(worker.id)
    assert not group.accepts_tasks(worker.id)
    await removal
    with pytest.raises(WorkerError):
        await running
    assert worker.status is WorkerStatus.STOPPED


async def test_one_that_does_not_stop_cleanly_is_forgotten_all_the_same() -> None:
    [worker] = await started(ScriptedWorker("a"))
    group = WorkerGroup([worker])
    worker.stop_errors.append(OSError("stuck"))
    heard = listen(group)
    with fails(WorkerErrorCode.WORKER_STOP_FAILED, "stuck"):
        await group.remove("a")
    assert len(group) == 0
    assert heard[-1] == "removed a"


async def test_two_removals_at_once_forget_it_once_and_not_its_successor() -> None:
    [worker] = await started(ScriptedWorker("a"))
    group = WorkerGroup([worker])
    heard = listen(group)
    running = busy(worker, asyncio.Event())
    await asyncio.sleep(0)
    patient = asyncio.ensure_future(group.remove("a"))
    await asyncio.sleep(0)
    await group.remove("a", grace_s=0)
    successor = ScriptedWorker("a")
    group.add(successor)
    await patient
    with pytest.raises(WorkerError):
        await running
    assert group.list() == (successor,)
    assert heard.count("removed a") == 1


class Unable(ScriptedWorker):
    """Cannot drain."""

    broken = True

    async def drain(self) -> None:
        """See Member."""
        if self.broken:
            raise OSError("unable")
        await super().drain()


async def test_a_member_whose_drain_raises_stays_in_the_group_and_accepts_tasks_again() -> None:
    [worker] = await started(Unable("a"))
    group = WorkerGroup([worker])
    heard = listen(group)
    with pytest.raises(OSError, match="unable"):
        await group.remove("a")
    assert heard == ["leaving a False>True", "leaving a True>False"]
    assert (group.leaving("a"), group.accepts_tasks(worker.id)) == (False, True)
    worker.broken = False
    await group.remove("a")
    assert (len(group), worker.status) == (0, WorkerStatus.STOPPED)


async def test_one_whose_drain_raises_is_stopped_all_the_same(caplog: pytest.LogCaptureFixture) -> None:
    [worker] = await started(Unable("a"))
    await worker.stop(grace_s=1)
    assert worker.status is WorkerStatus.STOPPED
    assert "worker a failed to drain; stopping it anyway" in caplog.text


async def test_a_removal_that_fails_does_not_end_another() -> None:
    [worker] = await started(Unable("a"))
    worker.broken = False
    group = WorkerGroup([worker])
    gate = asyncio.Event()
    running = busy(worker, gate)
    await asyncio.sleep(0)
    removal = asyncio.ensure_future(group.remove("a"))
    await asyncio.sleep(0)
    worker.broken = True
    heard = listen(group)
    with pytest.raises(OSError, match="unable"):
        await group.remove("a")
    assert (heard, group.leaving("a")) == ([], True)
    worker.broken = False
    gate.set()
    await asyncio.gather(running, removal)
    assert len(group) == 0


@virtual_time
async def test_waiting_callers_fail_at_once_although_running_work_keeps_the_member_in_the_group() -> None:
    worker = ScriptedWorker("a")
    group = WorkerGroup([worker])
    config = unattended(supervisor=SupervisorConfig(backoff_base_ms=60_000, backoff_cap_ms=60_000))
    async with Manager(group, config, clock=VirtualClock()) as manager:
        lost = asyncio.create_task(manager.assign(insist_for(1000.0), None))
        await settle()
        worker.fail("gone")
        waiting = asyncio.create_task(manager.assign(double, 1))
        await settle()
        assert not waiting.done()
        removal = asyncio.create_task(group.remove("a"))
        for caller in (lost, waiting):
            assert await code_of(caller) is WorkerErrorCode.NO_WORKERS_AVAILABLE
        assert (worker.load, removal.done()) == (1, False)
        await removal
    assert len(group) == 0


def _report(worker_id: str, *, well: bool) -> HealthReport:
    outcome = CheckOutcome.HEALTHY if well else CheckOutcome.ERROR
    return HealthReport(worker_id, outcome, "", 0.0, 0.0, failures=0 if well else 3, successes=int(well), healthy=well)


@pytest.fixture
async def group() -> WorkerGroup[ScriptedWorker]:
    """One that is ready with 4 slots and tags, one that is ready with 1, one that was never started."""
    a = ScriptedWorker("a", capacity=4, tags={"gpu", "eu"}, metadata={"rack": "1", "row": "x"})
    b = ScriptedWorker("b", tags={"eu"}, metadata={"rack": "2"})
    await started(a, b)
    return WorkerGroup([a, b, ScriptedWorker("c", capacity=8, tags={"gpu"})])


def _found(group: WorkerGroup[ScriptedWorker], criteria: Criteria) -> str:
    return "".join(member.id for member in group.search(criteria))


@pytest.mark.parametrize(
    ("criteria", "found"),
    [
        (Criteria(), "abc"),
        (Criteria(statuses=frozenset({WorkerStatus.CREATED})), "c"),
        (Criteria(kinds=frozenset({"other"})), ""),
        (Criteria(tags=frozenset({"gpu"})), "ac"),
        (Criteria(tags=frozenset({"gpu", "eu"})), "a"),
        (Criteria(min_free=4), "a"),
        (Criteria(metadata={"rack": "1"}), "a"),
        (Criteria(metadata={"rack": "1", "row": "y"}), ""),
        (Criteria(healthy=True), "abc"),
        (Criteria(healthy=False), ""),
        (Criteria(tags=frozenset({"eu"}), min_free=2, healthy=True, metadata={"row": "x"}), "a"),
    ],
    ids=repr,
)
async def test_all_that_is_named_must_hold(group: WorkerGroup[ScriptedWorker], criteria: Criteria, found: str) -> None:
    assert _found(group, criteria) == found


async def test_health_is_what_the_last_report_says(group: WorkerGroup[ScriptedWorker]) -> None:
    group.record(_report("a", well=False))
    assert (_found(group, Criteria(healthy=True)), _found(group, Criteria(healthy=False))) == ("bc", "a")
    group.record(_report("a", well=True))
    assert _found(group, Criteria(healthy=True)) == "abc"
