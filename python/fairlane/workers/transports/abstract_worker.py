"""A member that executes tasks: slot admission, metrics and telemetry. A transport supplies the execution.

Each attempt has two ends. Its caller is released at once by the result, by a cancellation or by the worker's failure,
whichever comes first. Its slot is freed when the work has really ended.
"""

import asyncio
import logging
from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from fairlane.clock import SYSTEM_CLOCK, Clock
from fairlane.telemetry import Telemetry
from fairlane.telemetry.names import ATTEMPT_DURATION, ATTEMPTS, EXECUTE
from fairlane.workers.errors import WorkerError, WorkerErrorCode, invalid, shown
from fairlane.workers.executor.task import In, Out, Task
from fairlane.workers.members.abstract_member import AbstractMember
from fairlane.workers.members.member import WorkerInfo
from fairlane.workers.members.status import WorkerStatus

_COMPLETED: Final = "completed"


@dataclass(eq=False, slots=True)
class _Attempt:
    task_id: str
    began_s: float
    answer: "asyncio.Future[Any]"
    """The future that the caller awaits."""
    slot_held_until: "asyncio.Future[Any] | None" = None
    """Set if the work outlives its execution."""


class AbstractWorker(AbstractMember):
    """See Worker. A transport implements `_execute` in addition to the methods of AbstractMember."""

    def __init__(
        self,
        info: WorkerInfo,
        *,
        clock: Clock = SYSTEM_CLOCK,
        telemetry: Telemetry | None = None,
        logger: logging.Logger | None = None,
    ) -> None:
        super().__init__(info, clock=clock, telemetry=telemetry, logger=logger)
        self._attempts: dict[asyncio.Task[Any] | None, _Attempt] = {}
        """Attempts whose execution has not ended, by the asyncio task that executes them."""

    @abstractmethod
    async def _execute(self, task: Task[In, Out], value: In) -> Out:
        """Execute in a slot that is already taken. Raise what the work raises; WorkerError for a transport error.

        A cancellation ends the work. A transport that cannot end it calls `_keep_slot` and returns at once.
        """

    async def execute(self, task: Task[In, Out], value: In) -> Out:
        """See Worker."""
        if not isinstance(task, Task):
            raise invalid("task", task, "a Task")
        self._admit(task.id)
        with self._telemetry.span(EXECUTE, task.id, self.id, self.info.kind):
            return await self._begin(task, value)

    # -- for transports --------------------------------------------------------------------------------------

    def _keep_slot(self, until: "asyncio.Future[Any]") -> None:
        """Hold the attempt's slot until a future is done. Call it in the asyncio task that runs `_execute`."""
        self._attempts[asyncio.current_task()].slot_held_until = until

    def _task_failed(self, task_id: str, error: BaseException) -> WorkerError:
        """Return task_failed, caused by an exception of the work."""
        text = f"failed on worker {self.id}: {shown(error, repr)[:500]}"
        failed = self._task_error(WorkerErrorCode.TASK_FAILED, task_id, text)
        failed.__cause__ = error
        return failed

    async def _await_cancelled(self, at_most_s: float) -> None:
        """Wait for cancelled executions to clean up."""
        if self._attempts:
            _, pending = await asyncio.wait(tuple(filter(None, self._attempts)), timeout=at_most_s)
            if pending:
                self._log.warning("worker %s: %d executions ignore their cancellation", self.id, len(pending))

    # -- one attempt -----------------------------------------------------------------------------------------

    def _admit(self, task_id: str) -> None:
        if self.status is WorkerStatus.BUSY:
            text = f"was refused: all {self.info.capacity} slots of worker {self.id} are in use"
            raise self._task_error(WorkerErrorCode.WORKER_AT_CAPACITY, task_id, text)
        if self.status is not WorkerStatus.READY:
            text = f"was refused: worker {self.id} is {self.status}"
            raise self._task_error(WorkerErrorCode.WORKER_NOT_READY, task_id, text)

    def _begin(self, task: Task[In, Out], value: In) -> "asyncio.Future[Out]":
        answer: asyncio.Future[Out] = asyncio.get_running_loop().create_future()
        attempt = _Attempt(task.id, self._clock.monotonic_s(), answer)
        running = asyncio.create_task(self._execute(task, value))
        self._attempts[running] = attempt
        running.add_done_callback(self._on_executed)
        answer.add_done_callback(partial(self._on_answered, attempt, running))
        self._change_load(1)
        return answer

    def _on_executed(self, running: "asyncio.Task[Any]") -> None:
        attempt = self._attempts.pop(running)
        error = None if running.cancelled() else running.exception()
        try:
            if attempt.answer.done():
                pass
            elif running.cancelled():
                text = "cancelled itself"
                self._fail_attempt(attempt, self._task_error(WorkerErrorCode.TASK_CANCELLED, attempt.task_id, text))
            elif error is None:
                attempt.answer.set_result(running.result())
                self._record(attempt, _COMPLETED)
            else:
                failed = error if isinstance(error, WorkerError) else self._task_failed(attempt.task_id, error)
                self._fail_attempt(attempt, failed)
        finally:
            if attempt.slot_held_until is None:
                self._change_load(-1)
            else:
                attempt.slot_held_until.add_done_callback(self._free_slot)

    def _free_slot(self, until: "asyncio.Future[Any]") -> None:
        if not until.cancelled():
            until.exception()  # mark it as retrieved: no caller awaits it any more
        self._change_load(-1)

    def _on_answered(self, attempt: _Attempt, running: "asyncio.Task[Any]", answer: "asyncio.Future[Any]") -> None:
        if answer.cancelled():
            self._record(attempt, WorkerErrorCode.TASK_CANCELLED)
            running.cancel()

    def _end_running(self) -> None:
        for running, attempt in self._attempts.items():
            if running is not None and not running.done() and not attempt.answer.done():
                running.cancel()  # before it can continue; an execution that has ended keeps its outcome
                text = f"was lost with worker {self.id}"
                self._fail_attempt(attempt, self._task_error(WorkerErrorCode.WORKER_LOST, attempt.task_id, text))

    def _fail_attempt(self, attempt: _Attempt, error: WorkerError) -> None:
        attempt.answer.set_exception(error)
        self._record(attempt, error.code)

    def _record(self, attempt: _Attempt, outcome: str) -> None:
        """Add the attempt to metrics and telemetry; the change of load that follows notifies watchers."""
        latency_s = self._clock.monotonic_s() - attempt.began_s
        if outcome != WorkerErrorCode.TASK_CANCELLED:
            self._accumulator.record(latency_s, succeeded=outcome == _COMPLETED)
        self._telemetry.add(ATTEMPTS, 1, self.info.kind, outcome)
        self._telemetry.observe(ATTEMPT_DURATION, latency_s, self.info.kind, outcome)

    def _task_error(self, code: WorkerErrorCode, task_id: str, text: str) -> WorkerError:
        return WorkerError(code, f"task {task_id} {text}", worker=self.id, task=task_id)
