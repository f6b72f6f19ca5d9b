"""A worker in this process: async functions run on the event loop, blocking ones in the worker's own threads."""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, Final

from fairlane.clock import SYSTEM_CLOCK, Clock
from fairlane.telemetry import Telemetry
from fairlane.workers.errors import WorkerError, invalid
from fairlane.workers.executor.task import In, Out, Task
from fairlane.workers.members.member import WorkerHealth, WorkerInfo
from fairlane.workers.transports.abstract_worker import AbstractWorker
from fairlane.workers.transports.threads import Threads, is_async, storable

KIND: Final = "local"
CLEANUP_S: Final = 1.0
"""Time for cancelled functions to clean up during a stop."""


class LocalWorker(AbstractWorker):
    """See Worker. A blocking function cannot be ended: after a cancellation it keeps its slot until it returns.

    ``check`` is the health check; without it, the worker is healthy as long as its event loop runs.

    Raises:
        WorkerError: invalid_configuration.
    """

    def __init__(
        self,
        worker_id: str,
        *,
        capacity: int = 1,
        weight: int = 1,
        tags: Collection[str] = (),
        metadata: Mapping[str, str] | None = None,
        check: Callable[[], Awaitable[WorkerHealth]] | None = None,
        clock: Clock = SYSTEM_CLOCK,
        telemetry: Telemetry | None = None,
        logger: logging.Logger | None = None,
    ) -> None:
        info = WorkerInfo.of(
            id=worker_id, kind=KIND, capacity=capacity, weight=weight, tags=tags, metadata=metadata or {}
        )
        if check is not None and not callable(check):
            raise invalid("check", check, "an async function without arguments, or None")
        super().__init__(info, clock=clock, telemetry=telemetry, logger=logger)
        self._own_check = check
        self._threads = Threads(f"fairlane-{worker_id}")

    async def _start(self) -> None:
        """Do nothing: threads are created on demand."""

    async def _stop(self) -> None:
        self._threads.close()
        self._threads = Threads(f"fairlane-{self.id}")
        await self._await_cancelled(CLEANUP_S)

    async def _check(self) -> WorkerHealth:
        return WorkerHealth(healthy=True) if self._own_check is None else await self._own_check()

    async def _execute(self, task: Task[In, Out], value: In) -> Out:
        try:
            body = task.body
            output = body(value) if is_async(body) else await self._in_thread(body, value)
            return await output if inspect.isawaitable(output) else output
        except WorkerError as error:
            raise self._task_failed(task.id, error) from error  # raised by a manager that the work itself uses
        except SystemExit as error:
            raise storable(error) from error

    async def _in_thread(self, function: Callable[[In], Any], value: In) -> Any:  # noqa: ANN401 - either Out or Awaitable[Out]
        done = self._threads.run(function, value)
        try:
            return await asyncio.shield(done)
        except asyncio.CancelledError:
            self._keep_slot(done)
            raise
