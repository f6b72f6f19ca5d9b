"""What a manager and its parts are given: what cannot be used is refused by name, and chance repeats by its seed."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from fairlane.clock import Rng, system_rng
from fairlane.config.workers import HealthConfig, SupervisorConfig
from fairlane.workers.errors import WorkerError, WorkerErrorCode
from fairlane.workers.executor.manager import Manager
from fairlane.workers.members.group import WorkerGroup
from fairlane.workers.members.health_checker import HealthChecker
from fairlane.workers.members.status import WorkerStatus
from fairlane.workers.members.supervisor import Supervisor
from fairlane.workers.strategies.base import Candidate
from fairlane.workers.strategies.stride import StrideScheduler
from tests.support.virtual_time import virtual_time
from tests.support.worker_work import Unspeakable
from tests.support.worker_workers import ScriptedWorker, double, managed, new_task, unattended

Bad = Any


@pytest.mark.parametrize(
    ("use", "says"),
    [
        (Manager, "group = 5: must be a WorkerGroup"),
        (lambda bad: Manager(WorkerGroup(), bad), "config = 5: must be a ManagerConfig"),
        (lambda _: Manager(WorkerGroup(), {}), r"config = \{\}: must be a ManagerConfig"),  # type: ignore[arg-type]
        (lambda bad: Manager(WorkerGroup(), retry_on=bad), "retry_on = 5: must be a tuple of exception classes"),
        (lambda _: Manager(WorkerGroup(), retry_on=ValueError), "retry_on = <class 'ValueError'>: "),  # type: ignore[arg-type]
        (lambda _: Manager(WorkerGroup(), retry_on=[ValueError]), "retry_on = .<class"),  # type: ignore[arg-type]
        (lambda _: Manager(WorkerGroup(), retry_on=("ValueError",)), "retry_on = .'ValueError'"),  # type: ignore[arg-type]
        (lambda _: Manager(WorkerGroup(), retry_on=(KeyboardInterrupt,)), "retry_on = "),  # type: ignore[arg-type]
        (lambda bad: Supervisor(bad, SupervisorConfig()), "group = 5: must be a WorkerGroup"),
        (lambda bad: Supervisor(WorkerGroup(), bad), "config = 5: must be a SupervisorConfig"),
        (lambda bad: Supervisor(WorkerGroup(), SupervisorConfig(), observer=bad), "observer = 5: must be callable"),
        (lambda bad: HealthChecker(bad, HealthConfig()), "group = 5: must be a WorkerGroup"),
        (lambda bad: HealthChecker(WorkerGroup(), bad), "config = 5: must be a HealthConfig"),
    ],
)
def test_a_bad_argument_is_named_with_what_is_accepted(use: Callable[[Bad], object], says: str) -> None:
    with pytest.raises(WorkerError, match=says) as raised:
        use(5)
    assert raised.value.code is WorkerErrorCode.INVALID_CONFIGURATION


@virtual_time
async def test_what_cannot_be_shown_is_refused_like_anything_else() -> None:
    async with managed(ScriptedWorker("a")) as manager:
        with pytest.raises(WorkerError, match="timeout_s = Unspeakable: must be a finite number"):
            await manager.assign(double, 1, timeout_s=Unspeakable())  # type: ignore[call-overload]
        with pytest.raises(WorkerError, match="task_id = Unspeakable: "):
            new_task(double, Unspeakable())  # type: ignore[arg-type]


class Refusing(StrideScheduler):
    """Takes nobody in."""

    def put(self, candidate: Candidate) -> None:
        raise ValueError("no room")


@virtual_time
async def test_a_strategy_that_takes_nobody_in_lets_nothing_begin(caplog: pytest.LogCaptureFixture) -> None:
    worker = ScriptedWorker("a")
    manager = managed(worker, config=unattended(strategy=f"{__name__}:Refusing"))
    with pytest.raises(WorkerError, match="Refusing rejected worker a: no room") as raised:
        await manager.__aenter__()
    assert raised.value.code is WorkerErrorCode.INVALID_CONFIGURATION
    assert worker.status is WorkerStatus.STOPPED
    worker.update(worker.info.model_copy(update={"weight": 2}))
    assert caplog.text == ""  # nobody follows it any more


# -- chance --------------------------------------------------------------------------------------------------


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
