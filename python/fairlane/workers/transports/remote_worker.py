"""A worker whose work runs in another process. Subclasses supply the process and the connection to it."""

import asyncio
import contextlib
import pickle
from abc import abstractmethod
from typing import Any, Protocol, cast

from fairlane.workers.errors import WorkerError, WorkerErrorCode, shown
from fairlane.workers.executor.task import In, Out, Task
from fairlane.workers.members.member import WorkerHealth
from fairlane.workers.transports.abstract_worker import AbstractWorker
from fairlane.workers.transports.exchange import Exchange
from fairlane.workers.transports.frames import Answer, AnswerKind


class Link(Protocol):
    """The connection to a process that executes calls."""

    @property
    def exchange(self) -> Exchange:
        """Calls to it."""
        ...

    @property
    def pid(self) -> int:
        """The process's id."""
        ...

    async def end(self) -> None:
        """End the process, whatever runs in it, and fail all open calls. A second call does nothing."""
        ...


class RemoteWorker(AbstractWorker):
    """See AbstractWorker. Async functions run on the process's event loop, blocking ones in its threads.

    A stop ends everything that runs in the process, blocking functions included. A cancelled blocking function keeps
    its slot until it returns or the worker stops.
    """

    _link: Link | None = None

    @property
    def pid(self) -> int | None:
        """The process's id; None while there is none."""
        return None if self._link is None else self._link.pid

    @abstractmethod
    async def _connect(self) -> Link:
        """Start a process and return when it accepts calls. If it exits by itself, call `fail` before anything else."""

    def _pickled(self, work: Any, value: Any) -> bytes:  # noqa: ANN401 - anything
        """Pickle work and input for the process. Any exception means that they cannot be sent."""
        return pickle.dumps((work, value))

    async def _start(self) -> None:
        self._link = await self._connect()

    async def _stop(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            await link.end()

    async def _check(self) -> WorkerHealth:
        link = self._link
        if link is None:
            return WorkerHealth(healthy=False, detail="its process is being ended")
        await link.exchange.ping()
        return WorkerHealth(healthy=True, detail=f"process {link.pid} answers")

    async def _execute(self, task: Task[In, Out], value: In) -> Out:
        link = self._link
        assert link is not None  # noqa: S101 - tasks are admitted only between start and stop
        try:
            payload = self._pickled(task.body, value)
        except Exception as error:
            raise self._unsendable(task.id, shown(error)) from error
        number, coming_answer = link.exchange.call(payload)
        try:
            answer = await asyncio.shield(coming_answer)
        except asyncio.CancelledError:
            link.exchange.cancel(number)
            self._keep_slot(coming_answer)
            raise
        return cast(Out, self._unpacked(task.id, answer))

    def _unpacked(self, task_id: str, answer: Answer) -> object:
        match answer.kind:
            case AnswerKind.VALUE:
                return pickle.loads(answer.payload)  # noqa: S301 - from our own process
            case AnswerKind.RAISED:
                error: Exception = pickle.loads(answer.payload)  # noqa: S301 - from our own process
                with contextlib.suppress(Exception):  # its class may override add_note
                    error.add_note(f"In process {self.pid}:\n{answer.trace}")
                raise self._task_failed(task_id, error) from error
            case AnswerKind.UNUSABLE:
                raise self._unsendable(task_id, answer.payload.decode(errors="replace"))
            case _:
                raise asyncio.CancelledError

    def _unsendable(self, task_id: str, problem: str) -> WorkerError:
        text = f"cannot be sent to worker {self.id}: {problem}; work and input must pickle and be importable there"
        return self._task_error(WorkerErrorCode.INVALID_CONFIGURATION, task_id, text)
