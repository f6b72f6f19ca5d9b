"""Arguments that cannot be used are refused by name with what is accepted, and change nothing."""

import asyncio
import math
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from fairlane.clock import Rng, system_rng
from fairlane.workers import (
    Candidate,
    Criteria,
    HealthChecker,
    HealthConfig,
    LocalWorker,
    Manager,
    Supervisor,
    SupervisorConfig,
    WorkerError,
    WorkerErrorCode,
    WorkerGroup,
    WorkerHealth,
    WorkerInfo,
    WorkerStatus,
    register_strategy,
)
from fairlane.workers.strategies.stride import StrideScheduler
from tests.support.virtual_time import virtual_time
from tests.support.worker_errors import fails
from tests.support.worker_watched import listen
from tests.support.worker_work import Unspeakable
from tests.support.worker_workers import ScriptedWorker, double, managed, new_task, started, unattended

Bad = Any


@pytest.mark.parametrize(
    ("use", "says"),
    [
        (lambda group: group.add(5), "member = 5: must be a worker"),
        (lambda group: group.add(ScriptedWorker), "member = <class .*: must be a worker"),
        (lambda _: WorkerGroup([5]), "member = 5: must be a worker"),  # type: ignore[type-var]
        (lambda _: WorkerGroup(ScriptedWorker("b")), "members = .*: must be an iterable of members"),  # type: ignore[arg-type, type-var]
        (lambda group: group.get(5), "the group has no worker 5"),
        (lambda group: group.get(Unspeakable()), "the group has no worker Unspeakable"),
        (lambda group: group.search({"tags": ["x"]}), r"criteria = \{.*: must be Criteria"),
        (lambda group: group.subscribe(5), "observer = 5: must be callable"),
        (lambda group: group.record("well"), "report = 'well': must be a HealthReport"),
        (lambda group: group.update("a", capacity="x"), "capacity = 'x': "),
        (lambda group: group.get("a").update({"weight": 2}), r"info = \{.*: must be a WorkerInfo"),
        (lambda group: group.get("a").watch(Unspeakable()), "watcher = Unspeakable: must be callable"),
        (lambda _: register_strategy("test-nothing", 5), "factory = 5: must be callable"),  # type: ignore[arg-type]
        (lambda _: Criteria.of(min_free=-1), "min_free = -1: "),
        (lambda group: group.get("a").update(WorkerInfo.of(id="b", kind="scripted", capacity=1)), "cannot become b"),
        (lambda group: group.get("a").update(WorkerInfo.of(id="a", kind="x", capacity=1)), "cannot become a of kind x"),
        (lambda _: LocalWorker("b", check=5), "check = 5: must be an async function"),  # type: ignore[arg-type]
        (lambda _: Manager(5), "group = 5: must be a WorkerGroup"),
        (lambda _: Manager(WorkerGroup(), 5), "config = 5: must be a ManagerConfig"),
        (lambda _: Manager(WorkerGroup(), {}), r"config = \{\}: must be a ManagerConfig"),  # type: ignore[arg-type]
        (lambda _: Manager(WorkerGroup(), retry_on=5), "retry_on = 5: must be a tuple of exception classes"),
        (lambda _: Manager(WorkerGroup(), retry_on=ValueError), "retry_on = <class 'ValueError'>: "),  # type: ignore[arg-type]
        (lambda _: Manager(WorkerGroup(), retry_on=[ValueError]), "retry_on = .<class"),  # type: ignore[arg-type]
        (lambda _: Manager(WorkerGroup(), retry_on=("ValueError",)), "retry_on = .'ValueError'"),  # type: ignore[arg-type]
        (lambda _: Manager(WorkerGroup(), retry_on=(KeyboardInterrupt,)), "retry_on = "),  # type: ignore[arg-type]
        (lambda _: Supervisor(5, SupervisorConfig()), "group = 5: must be a WorkerGroup"),
        (lambda _: Supervisor(WorkerGroup(), 5), "config = 5: must be a SupervisorConfig"),
        (lambda _: Supervisor(WorkerGroup(), SupervisorConfig(), observer=5), "observer = 5: must be callable"),
        (lambda _: HealthChecker(5, HealthConfig()), "group = 5: must be a WorkerGroup"),
        (lambda _: HealthChecker(WorkerGroup(), 5), "config = 5: must be a HealthConfig"),
    ],
)
async def test_a_bad_argument_is_named_with_what_is_accepted(use: Callable[[Bad], object], says: str) -> None:
    group = WorkerGroup([ScriptedWorker("a")])
    heard = listen(group)
    with pytest.raises(WorkerError, match=says) as raised:
        use(group)
    assert raised.value.code in {WorkerErrorCode.INVALID_CONFIGURATION, WorkerErrorCode.WORKER_NOT_FOUND}
    assert (heard, len(group)) == ([], 1)


@pytest.mark.parametrize("bad", ["5", [1], True, -1, math.nan, math.inf, 10**400, None], ids=lambda bad: repr(bad)[:9])
async def test_a_grace_time_that_cannot_be_used_changes_nothing(bad: Bad) -> None:
    [worker] = await started(ScriptedWorker("a"))
    group = WorkerGroup([worker])
    heard = listen(group)
    says = r"grace_s = .*: must be a finite number of seconds, 0 or more"
    with fails(WorkerErrorCode.INVALID_CONFIGURATION, says):
        await (worker.stop(bad) if bad is None else group.remove("a", bad))
    assert (heard, worker.status) == ([], WorkerStatus.READY)


async def test_only_tasks_are_executed() -> None:
    [worker] = await started(ScriptedWorker("a"))
    with pytest.raises(WorkerError, match=r"task = <function double .*: must be a Task"):
        await worker.execute(double, 1)  # type: ignore[arg-type]
    assert worker.load == 0


Bad = Any


@virtual_time
async def test_what_cannot_be_shown_is_refused_like_anything_else() -> None:
    async with managed(ScriptedWorker("a")) as manager:
        with pytest.raises(WorkerError, match="timeout_s = Unspeakable: must be a finite number"):
            await manager.assign(double, 1, timeout_s=Unspeakable())  # type: ignore[call-overload]
        with pytest.raises(WorkerError, match="task_id = Unspeakable: "):
            new_task(double, Unspeakable())  # type: ignore[arg-type]


class Refusing(StrideScheduler):
    """Rejects every worker."""

    def put(self, candidate: Candidate) -> None:
        raise ValueError("no room")


@virtual_time
async def test_a_strategy_that_rejects_workers_prevents_entering(
    caplog: pytest.LogCaptureFixture,
) -> None:
    worker = ScriptedWorker("a")
    manager = managed(worker, config=unattended(strategy=f"{__name__}:Refusing"))
    with fails(WorkerErrorCode.INVALID_CONFIGURATION, "Refusing rejected worker a: no room"):
        await manager.__aenter__()
    assert worker.status is WorkerStatus.STOPPED
    worker.update(worker.info.model_copy(update={"weight": 2}))
    assert caplog.text == ""  # the placement has unsubscribed


async def _choices(rng: Rng, *, interval_ms: int) -> list[str]:
    """Who executed each of many tasks that came one by one, among health checks and restarts."""
    workers = [ScriptedWorker(name, weight=weight) for weight, name in enumerate("abcd", start=1)]
    config = unattended(
        strategy="weighted-random", health=HealthConfig(interval_ms=interval_ms), supervisor=SupervisorConfig()
    )
    chosen: list[str] = []
    async with managed(*workers, config=config, rng=rng) as manager:
        for number in range(60):
            task = new_task(double, f"t{number}")
            await manager.assign(task, number, timeout_s=60)
            chosen += task.metadata.workers
            await asyncio.sleep(0.01)
    return chosen


@virtual_time
async def test_the_choices_of_a_seed_repeat_whatever_else_takes_chance() -> None:
    rngs = [system_rng(7), system_rng(7), system_rng(8)]
    one, two, other = [await _choices(rng, interval_ms=ms) for rng, ms in zip(rngs, (60_000, 1, 1), strict=True)]
    assert one == two
    assert one != other


GOOD = {"id": "w", "kind": "local", "capacity": 1}


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"id": "-w"}, "id = '-w': String should match"),
        ({"capacity": 0}, "capacity = 0: must be at least 1"),
        ({"capacity": True}, "capacity = True: must be a whole number"),
        ({"capacity": 10**7}, "capacity = 10000000: must be at most 1000000"),
        ({"weight": 0}, "weight = 0: must be at least 1"),
        ({"tags": "gpu"}, "tags = 'gpu': must be a frozenset"),
        ({"metadata": {"zone": 1}}, "metadata.zone = 1: must be text"),
        ({"size": 1}, "unknown field `size` in WorkerInfo; it takes id, kind, capacity, weight, tags, metadata"),
        ({"kind": "", "weight": 0.5}, "; weight = 0.5: "),
    ],
)
def test_bad_fields_are_named_with_value_and_what_is_accepted(changed: dict[str, object], says: str) -> None:
    with pytest.raises(WorkerError) as error:
        WorkerInfo.of(**GOOD | changed)
    assert says in str(error.value)
    assert error.value.code is WorkerErrorCode.INVALID_CONFIGURATION
    with pytest.raises(WorkerError) as direct:
        WorkerInfo(**GOOD | changed)  # type: ignore[arg-type]
    assert str(direct.value) == str(error.value)


def test_info_is_immutable() -> None:
    info = WorkerInfo.of(**GOOD)
    with pytest.raises(ValidationError):
        info.capacity = 2  # type: ignore[misc]


def test_health_is_a_plain_answer() -> None:
    assert WorkerHealth.of(healthy=True) == WorkerHealth(healthy=True, detail="")
    with pytest.raises(WorkerError, match="healthy = 1"):
        WorkerHealth.of(healthy=1)
    with pytest.raises(WorkerError, match="detail"):
        WorkerHealth(healthy=True, detail="x" * 1_001)
