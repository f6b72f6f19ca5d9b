"""A transport for tests. It executes on the loop; the test sets how it starts, stops and answers checks."""

import asyncio
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fairlane.clock import SYSTEM_CLOCK, Clock, system_rng
from fairlane.config.workers import ManagerConfig
from fairlane.telemetry import Telemetry
from fairlane.workers.executor.manager import Manager
from fairlane.workers.executor.task import Task
from fairlane.workers.members.group import WorkerGroup
from fairlane.workers.members.member import WorkerHealth, WorkerInfo
from fairlane.workers.transports.abstract_worker import AbstractWorker
from tests.support.virtual_time import VirtualClock


class ScriptedWorker(AbstractWorker):
    """Lists hold the errors of its next starts and stops; its answers to checks can be set."""

    def __init__(
        self,
        worker_id: str = "w",
        *,
        capacity: int = 1,
        weight: int = 1,
        tags: Iterable[str] = (),
        metadata: Mapping[str, str] = {},
        clock: Clock = SYSTEM_CLOCK,
        telemetry: Telemetry | None = None,
    ) -> None:
        info = WorkerInfo.of(
            id=worker_id, kind="scripted", capacity=capacity, weight=weight, tags=tags, metadata=metadata
        )
        super().__init__(info, clock=clock, telemetry=telemetry)
        self.start_errors: list[Exception] = []
        self.stop_errors: list[Exception] = []
        self.start_gate: asyncio.Event | None = None
        self.stop_gate: asyncio.Event | None = None
        self.healthy = True
        self.starts = 0

    async def _start(self) -> None:
        self.starts += 1
        if self.start_gate is not None:
            await self.start_gate.wait()
        if self.start_errors:
            raise self.start_errors.pop(0)

    async def _stop(self) -> None:
        if self.stop_gate is not None:
            await self.stop_gate.wait()
        if self.stop_errors:
            raise self.stop_errors.pop(0)

    async def _check(self) -> WorkerHealth:
        return WorkerHealth(healthy=self.healthy)

    async def _execute(self, task: Any, value: Any) -> Any:
        output = task.execute(value)
        return await output if inspect.isawaitable(output) else output


async def started(*workers: ScriptedWorker) -> tuple[ScriptedWorker, ...]:
    """Start the workers, and return them."""
    for worker in workers:
        await worker.start()
    return workers


def unattended(**fields: Any) -> ManagerConfig:
    """A configuration without health checks and restarts."""
    return ManagerConfig(**{"health": None, "supervisor": None} | fields)


def managed(*workers: ScriptedWorker, config: ManagerConfig | None = None, **options: Any) -> Manager:
    """A manager in virtual time with a seeded source of chance."""
    fixed = {"clock": VirtualClock(), "rng": system_rng(7)}
    return Manager(WorkerGroup(workers), config or unattended(), **fixed | options)


def new_task(work: Callable[[Any], Any], task_id: str = "t") -> Task[Any, Any]:
    """A new task."""
    return Task(work, task_id=task_id, created_s=0)


async def double(value: int) -> int:
    """Return twice the value."""
    return 2 * value


async def sleep(seconds: float) -> float:
    """Sleep for this time, and return it."""
    await asyncio.sleep(seconds)
    return seconds
