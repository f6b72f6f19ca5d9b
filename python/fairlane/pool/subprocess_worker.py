"""A worker in a process of its own: what it executes can neither block nor crash this one.

The process imports from where this one does, so that work and inputs may be anything that pickles: functions at the
top of an importable module, and not of the program's main file.
"""

import asyncio
import logging
import pickle
from collections.abc import Collection, Mapping
from typing import Any, Final, cast

from fairlane.clock import SYSTEM_CLOCK, Clock
from fairlane.pool.abstract_worker import AbstractWorker
from fairlane.pool.child_process import ChildProcess
from fairlane.pool.errors import PoolError, PoolErrorCode
from fairlane.pool.frames import Answer, AnswerKind
from fairlane.pool.task import In, Out, Task
from fairlane.pool.worker import WorkerHealth, WorkerInfo
from fairlane.telemetry import Telemetry

KIND: Final = "subprocess"


class SubprocessWorker(AbstractWorker):
    """See Worker. Async functions run on the process's event loop, blocking ones in its threads.

    The process ends with this one, however that ends. A stop ends what still runs in it, blocking functions as well;
    a cancelled blocking function keeps its slot until it returns or the worker stops.

    Raises:
        PoolError: invalid_configuration.
    """

    def __init__(
        self,
        worker_id: str,
        *,
        capacity: int = 1,
        weight: int = 1,
        tags: Collection[str] = (),
        metadata: Mapping[str, str] | None = None,
        clock: Clock = SYSTEM_CLOCK,
        telemetry: Telemetry | None = None,
        logger: logging.Logger | None = None,
    ) -> None:
        info = WorkerInfo.of(
            id=worker_id, kind=KIND, capacity=capacity, weight=weight, tags=tags, metadata=metadata or {}
        )
        super().__init__(info, clock=clock, telemetry=telemetry, logger=logger)
        self._child: ChildProcess | None = None

    @property
    def pid(self) -> int | None:
        """The process's id; None while there is none."""
        return None if self._child is None else self._child.pid

    async def _start(self) -> None:
        self._child = await ChildProcess.begin(self.fail)

    async def _stop(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            await child.end()

    async def _check(self) -> WorkerHealth:
        child = self._child
        if child is None:
            return WorkerHealth(healthy=False, detail="its process is being ended")
        await child.ping()
        return WorkerHealth(healthy=True, detail=f"process {child.pid} answers")

    async def _execute(self, task: Task[In, Out], value: In) -> Out:
        child = self._child
        assert child is not None  # noqa: S101 - it is at work
        number, coming = child.call(self._packed(task, value))
        try:
            answer = await asyncio.shield(coming)
        except asyncio.CancelledError:
            child.cancel(number)
            self._keep_slot(coming)
            raise
        return cast(Out, self._opened(task.id, answer))

    def _packed(self, task: Task[In, Any], value: In) -> bytes:
        try:
            return pickle.dumps((task.work, value))
        except Exception as error:
            raise self._unusable(task.id, str(error)) from error

    def _opened(self, task_id: str, answer: Answer) -> object:
        match answer.kind:
            case AnswerKind.VALUE:
                return pickle.loads(answer.payload)  # noqa: S301 - from our own process
            case AnswerKind.RAISED:
                error: Exception = pickle.loads(answer.payload)  # noqa: S301 - from our own process
                error.add_note(f"In process {self.pid}:\n{answer.trace}")
                raise self._task_failed(task_id, error) from error
            case AnswerKind.UNUSABLE:
                raise self._unusable(task_id, answer.payload.decode())
            case AnswerKind.CANCELLED:
                raise asyncio.CancelledError

    def _unusable(self, task_id: str, problem: str) -> PoolError:
        text = f"cannot be sent to worker {self.id}: {problem}; work and input must pickle, and be importable there"
        return self._task_error(PoolErrorCode.INVALID_CONFIGURATION, task_id, text)
