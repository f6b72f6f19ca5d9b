"""Arguments that cannot be used are refused by name, and change nothing."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from fairlane.workers.errors import WorkerError, WorkerErrorCode
from fairlane.workers.members.group import WorkerGroup
from fairlane.workers.members.status import WorkerStatus
from fairlane.workers.transports.local_worker import LocalWorker
from tests.support.worker_watched import listen
from tests.support.worker_work import Unspeakable, double
from tests.support.worker_workers import ScriptedWorker, started

Bad = Any


@pytest.mark.parametrize(
    ("use", "says"),
    [
        (lambda group: group.add(5), "member = 5: must be a worker"),
        (lambda group: group.add(ScriptedWorker), "member = <class .*: must be a worker"),
        (lambda _: WorkerGroup([5]), "member = 5: must be a worker"),  # type: ignore[type-var]
        (lambda _: WorkerGroup(ScriptedWorker("b")), "members = .*: must be an iterable of members"),  # type: ignore[arg-type, type-var]
        (lambda group: group.search({"tags": ["x"]}), r"criteria = \{.*: must be Criteria"),
        (lambda group: group.subscribe(5), "observer = 5: must be callable"),
        (lambda group: group.record("well"), "report = 'well': must be a HealthReport"),
        (lambda group: group.update("a", capacity="x"), "capacity = 'x': "),
        (lambda group: group.get("a").update({"weight": 2}), r"info = \{.*: must be a WorkerInfo"),
        (lambda group: group.get("a").watch(Unspeakable()), "watcher = Unspeakable: must be callable"),
        (lambda _: LocalWorker("b", check=5), "check = 5: must be an async function"),  # type: ignore[arg-type]
    ],
)
async def test_a_bad_argument_is_named_with_what_is_accepted(use: Callable[[Bad], object], says: str) -> None:
    group = WorkerGroup([ScriptedWorker("a")])
    heard = listen(group)
    with pytest.raises(WorkerError, match=says) as raised:
        use(group)
    assert raised.value.code is WorkerErrorCode.INVALID_CONFIGURATION
    assert (heard, len(group)) == ([], 1)


@pytest.mark.parametrize("name", [5, [], None, Unspeakable()], ids=lambda name: type(name).__name__)
async def test_what_is_no_name_is_nobodys(name: Bad) -> None:
    group = WorkerGroup([ScriptedWorker("a")])
    assert name not in group
    with pytest.raises(WorkerError, match="the group has no worker") as raised:
        group.get(name)
    assert raised.value.code is WorkerErrorCode.WORKER_NOT_FOUND


@pytest.mark.parametrize("bad", ["5", -1, math.nan, None])
async def test_a_stop_with_a_bad_grace_time_changes_nothing(bad: Bad) -> None:
    [worker] = await started(ScriptedWorker("a"))
    with pytest.raises(WorkerError, match="grace_s = ") as raised:
        await worker.stop(bad)
    assert raised.value.code is WorkerErrorCode.INVALID_CONFIGURATION
    assert worker.status is WorkerStatus.READY


async def test_only_tasks_are_executed() -> None:
    [worker] = await started(ScriptedWorker("a"))
    with pytest.raises(WorkerError, match=r"task = <function double .*: must be a Task"):
        await worker.execute(double, 1)  # type: ignore[arg-type]
    assert worker.load == 0
