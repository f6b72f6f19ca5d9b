"""A member that executes tasks: admission to its slots, figures and telemetry. A transport writes the execution.

An attempt has two ends. Whoever waits for it is let go at once by its result, by a cancellation or by the worker's
failure, whichever comes first. Its slot is free when the work has really ended.
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
    """What the caller waits for."""
    kept_until: "asyncio.Future[Any] | None" = None
    """Set if the work goes on without its execution."""


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
        self._attempts: dict[asyncio.Task[Any] | None, _Attempt] = {}
        """Those whose execution has not ended, by the asyncio task that executes."""

    @abstractmethod
    async def _execute(self, task: Task[In, Out], value: In) -> Out:
        """Execute in a slot that is taken. Raise what the work raises, or WorkerError for a fault of the transport.

        A cancellation ends the work. If the transport cannot end it, it calls `_keep_slot` and lets go at once.
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
        """Keep the slot of the calling execution until then. Called by the asyncio task that `_execute` runs in."""
        self._attempts[asyncio.current_task()].kept_until = until

    def _task_failed(self, task_id: str, error: BaseException) -> WorkerError:
        """Return what the pool makes of an exception of the work."""
        text = f"failed on worker {self.id}: {shown(error, repr)[:500]}"
        failed = self._task_error(WorkerErrorCode.TASK_FAILED, task_id, text)
        failed.__cause__ = error
        return failed

    async def _unwind(self, at_most_s: float) -> None:
        """Wait for executions that were cancelled to clean up."""
        if self._attempts:
            _, pending = await asyncio.wait(tuple(filter(None, self._attempts)), timeout=at_most_s)
            if pending:
                self._log.warning("worker %s: %d executions go on although cancelled", self.id, len(pending))

    # -- one attempt -----------------------------------------------------------------------------------------

    def _admit(self, task_id: str) -> None:
        if self.status is WorkerStatus.BUSY:
            text = f"finds all {self.info.capacity} slots of worker {self.id} in use"
            raise self._task_error(WorkerErrorCode.WORKER_AT_CAPACITY, task_id, text)
        if self.status is not WorkerStatus.READY:
            raise self._task_error(WorkerErrorCode.WORKER_NOT_READY, task_id, f"finds worker {self.id} {self.status}")

    def _begin(self, task: Task[In, Out], value: In) -> "asyncio.Future[Out]":
        answer: asyncio.Future[Out] = asyncio.get_running_loop().create_future()
        attempt = _Attempt(task.id, self._clock.monotonic_s(), answer)
        running = asyncio.create_task(self._execute(task, value))
        self._attempts[running] = attempt
        running.add_done_callback(self._executed)
        answer.add_done_callback(partial(self._answered, attempt, running))
        self._change_load(1)
        return answer

    def _executed(self, running: "asyncio.Task[Any]") -> None:
        attempt = self._attempts.pop(running)
        error = None if running.cancelled() else running.exception()
        try:
            if attempt.answer.done():
                pass
            elif running.cancelled():
                self._settle(attempt, self._task_error(WorkerErrorCode.TASK_CANCELLED, attempt.task_id, "ended itself"))
            elif error is None:
                attempt.answer.set_result(running.result())
                self._account(attempt, _COMPLETED)
            else:
                failed = error if isinstance(error, WorkerError) else self._task_failed(attempt.task_id, error)
                self._settle(attempt, failed)
        finally:
            if attempt.kept_until is None:
                self._change_load(-1)
            else:
                attempt.kept_until.add_done_callback(self._free)

    def _free(self, until: "asyncio.Future[Any]") -> None:
        if not until.cancelled():
            until.exception()  # seen: nobody waits for it any more
        self._change_load(-1)

    def _answered(self, attempt: _Attempt, running: "asyncio.Task[Any]", answer: "asyncio.Future[Any]") -> None:
        if answer.cancelled():
            self._account(attempt, WorkerErrorCode.TASK_CANCELLED)
            running.cancel()

    def _end_running(self) -> None:
        for running, attempt in self._attempts.items():
            if running is not None and not running.done() and not attempt.answer.done():
                running.cancel()  # before it can go on; what has ended keeps its outcome
                text = f"was lost with worker {self.id}"
                self._settle(attempt, self._task_error(WorkerErrorCode.WORKER_LOST, attempt.task_id, text))

    def _settle(self, attempt: _Attempt, error: WorkerError) -> None:
        attempt.answer.set_exception(error)
        self._account(attempt, error.code)

    def _account(self, attempt: _Attempt, outcome: str) -> None:
        """Put the attempt's end into the figures; watchers hear of it with the change of load that follows."""
        latency_s = self._clock.monotonic_s() - attempt.began_s
        if outcome != WorkerErrorCode.TASK_CANCELLED:
            self._accumulator.ended(latency_s, well=outcome == _COMPLETED)
        self._telemetry.add(ATTEMPTS, 1, self.info.kind, outcome)
        self._telemetry.observe(ATTEMPT_DURATION, latency_s, self.info.kind, outcome)

    def _task_error(self, code: WorkerErrorCode, task_id: str, text: str) -> WorkerError:
        return WorkerError(code, f"task {task_id} {text}", worker=self.id, task=task_id)
