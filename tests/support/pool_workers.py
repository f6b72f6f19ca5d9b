"""A transport for tests: executes on the loop, and starts, stops and feels as it is told."""

import asyncio
import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from fairlane.clock import SYSTEM_CLOCK, Clock
from fairlane.pool.abstract_worker import AbstractWorker
from fairlane.pool.worker import WorkerHealth, WorkerInfo
from fairlane.telemetry import Telemetry


class ScriptedWorker(AbstractWorker):
    """What it raises at its next starts and stops is taken from lists; what it says of itself can be set."""

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
    """Start them, and return them."""
    for worker in workers:
        await worker.start()
    return workers
