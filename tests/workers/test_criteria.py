"""Searching: each criterion on its own, and all of them together."""

import asyncio

import pytest

from fairlane.workers.errors import WorkerError, WorkerErrorCode
from fairlane.workers.executor.task import Task
from fairlane.workers.members.criteria import Criteria
from fairlane.workers.members.group import WorkerGroup
from fairlane.workers.members.health_report import CheckOutcome, HealthReport
from fairlane.workers.members.status import WorkerStatus
from tests.support.worker_workers import ScriptedWorker, started


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
        (Criteria(statuses=frozenset({WorkerStatus.CREATED, WorkerStatus.READY})), "abc"),
        (Criteria(kinds=frozenset({"scripted"})), "abc"),
        (Criteria(kinds=frozenset({"other"})), ""),
        (Criteria(tags=frozenset({"gpu"})), "ac"),
        (Criteria(tags=frozenset({"gpu", "eu"})), "a"),
        (Criteria(min_free=1), "ab"),
        (Criteria(min_free=4), "a"),
        (Criteria(min_free=5), ""),
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


async def test_a_slot_in_use_is_not_free(group: WorkerGroup[ScriptedWorker]) -> None:
    gate = asyncio.Event()

    async def wait(_: None) -> bool:
        return await gate.wait()

    running = asyncio.ensure_future(group.get("a").execute(Task(wait, task_id="t", created_s=0), None))
    await asyncio.sleep(0)
    assert (_found(group, Criteria(min_free=3)), _found(group, Criteria(min_free=4))) == ("a", "")
    gate.set()
    await running
    assert _found(group, Criteria(min_free=4)) == "a"


async def test_health_is_what_the_last_report_says(group: WorkerGroup[ScriptedWorker]) -> None:
    group.record(_report("a", well=False))
    assert (_found(group, Criteria(healthy=True)), _found(group, Criteria(healthy=False))) == ("bc", "a")
    group.record(_report("a", well=True))
    assert _found(group, Criteria(healthy=True)) == "abc"


@pytest.mark.parametrize("bad", [{"min_free": -1}, {"min_free": 1.5}, {"statuses": {"asleep"}}, {"colour": "red"}])
def test_what_cannot_be_looked_for_is_refused(bad: dict[str, object]) -> None:
    [field] = bad
    for make in (Criteria, Criteria.of):
        with pytest.raises(WorkerError, match=field) as raised:
            make(**bad)
        assert raised.value.code is WorkerErrorCode.INVALID_CONFIGURATION
