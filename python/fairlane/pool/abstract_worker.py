"""A member that executes tasks: admission to its slots, figures and telemetry. A transport writes the execution."""

import asyncio
import logging
from abc import abstractmethod
from typing import Any, Final

from fairlane.clock import SYSTEM_CLOCK, Clock
from fairlane.pool.abstract_member import AbstractMember
from fairlane.pool.errors import PoolError, PoolErrorCode
from fairlane.pool.status import WorkerStatus
from fairlane.pool.task import In, Out, Task
from fairlane.pool.worker import WorkerInfo
from fairlane.telemetry import Telemetry
from fairlane.telemetry.names import ATTEMPT_DURATION, ATTEMPTS, EXECUTE

_COMPLETED: Final = "completed"


class AbstractWorker(AbstractMember):
    """See Worker. A transport writes `_execute`, beside what AbstractMember asks for."""

    def __init__(
        self,
        info: WorkerInfo,
        *,
        clock: Clock = SYSTEM_CLOCK,
        telemetry: Telemetry | None = None,
        logger: logging.Logger | None = None,
    ) -> None:
        super().__init__(info, clock=clock, telemetry=telemetry, logger=logger)
        self._running: set[asyncio.Future[Any]] = set()
        self._lost: set[asyncio.Future[Any]] = set()
        """Those of the running that the worker ended itself."""

    @abstractmethod
    async def _execute(self, task: Task[In, Out], value: In) -> Out:
        """Execute in a slot that is taken; raise what the work raises, or PoolError (worker_lost).

        A cancellation ends the work. If the transport cannot end it, it lets go at once, and calls `_keep_slot`.
        """

    async def execute(self, task: Task[In, Out], value: In) -> Out:
        """See Worker."""
        self._admit(task)
        began_s = self._clock.monotonic_s()
        outcome: str = PoolErrorCode.TASK_CANCELLED
        self._change_load(1)
        try:
            with self._telemetry.span(EXECUTE, task.id, self.id, self.info.kind):
                output = await self._run(task, value)
            outcome = _COMPLETED
            return output
        except PoolError as error:
            outcome = error.code
            raise
        finally:
            self._account(self._clock.monotonic_s() - began_s, outcome)

    def _admit(self, task: Task[Any, Any]) -> None:
        if self.status is WorkerStatus.BUSY:
            raise PoolError(
                PoolErrorCode.WORKER_AT_CAPACITY,
                f"worker {self.id}: all {self.info.capacity} slots are in use",
                worker=self.id,
                task=task.id,
            )
        if self.status is not WorkerStatus.READY:
            raise PoolError(
                PoolErrorCode.WORKER_NOT_READY,
                f"worker {self.id} is {self.status}, not ready",
                worker=self.id,
                task=task.id,
            )

    async def _run(self, task: Task[In, Out], value: In) -> Out:
        """Run the execution as a task of its own, so that the worker's failure can end it."""
        running = asyncio.ensure_future(self._execute(task, value))
        self._running.add(running)
        try:
            return await running
        except asyncio.CancelledError:
            if _is_cancelled_from_outside():
                raise
            code = PoolErrorCode.WORKER_LOST if running in self._lost else PoolErrorCode.TASK_CANCELLED
            raise PoolError(code, f"worker {self.id}: task {task.id} was ended", worker=self.id, task=task.id) from None
        except PoolError:
            raise
        except Exception as error:
            raise PoolError(
                PoolErrorCode.TASK_FAILED,
                f"task {task.id} failed on worker {self.id}: {error!r:.500}",
                worker=self.id,
                task=task.id,
            ) from error
        finally:
            self._running.discard(running)
            self._lost.discard(running)

    def _account(self, latency_s: float, outcome: str) -> None:
        if outcome != PoolErrorCode.TASK_CANCELLED:
            self._accumulator.ended(latency_s, well=outcome == _COMPLETED)
        self._telemetry.add(ATTEMPTS, 1, self.info.kind, outcome)
        self._telemetry.observe(ATTEMPT_DURATION, latency_s, self.info.kind, outcome)
        self._change_load(-1)

    def _end_running(self) -> None:
        for running in self._running:
            self._lost.add(running)
            running.cancel()

    def _keep_slot(self, until: "asyncio.Future[Any]") -> None:
        """Keep a slot for work that goes on although its execution was cancelled."""
        self._change_load(1)
        until.add_done_callback(lambda _: self._change_load(-1))


def _is_cancelled_from_outside() -> bool:
    current = asyncio.current_task()
    return current is not None and current.cancelling() > 0
