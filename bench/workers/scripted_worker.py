"""A transport for workers whose speed and health a driver sets, and callers that give them tasks."""

import asyncio
import contextlib
import inspect
from collections.abc import Iterable, Sequence
from enum import Enum, auto
from typing import cast

from bench.workers.journal import Answer, Journal, Moment
from bench.workers.scenario import WorkerSpec
from fairlane.clock import Clock, IdGenerator
from fairlane.workers import AbstractWorker, Manager, WorkerError, WorkerHealth
from fairlane.workers.executor.task import In, Out, Task


class Condition(Enum):
    """A worker's health."""

    WELL = auto()
    ILL = auto()
    """It reports that it is unhealthy, and its tasks do not end. A start cures it."""
    STUCK = auto()
    """Its health checks do not end and ignore their cancellation, and its tasks do not end."""


class ScriptedWorker(AbstractWorker):
    """A worker on the event loop. It executes a task by waiting, and then doing the work."""

    def __init__(self, spec: WorkerSpec, journal: Journal, clock: Clock, lengths: Sequence[float] = (1.0,)) -> None:
        """The task on value i takes a factor times the worker's usual time: the i-th of ``lengths``, in a circle."""
        super().__init__(spec.info(), clock=clock)
        self.takes_s = spec.takes_ms / 1000
        self._lengths = lengths
        self._journal = journal
        self._condition = Condition.WELL
        self._freed = asyncio.Event()

    def trouble(self, condition: Condition) -> None:
        """Begin a trouble."""
        self._freed.clear()
        self._condition = condition
        self._journal.note(Moment.TROUBLE, self.id)

    def relieve(self) -> None:
        """End the trouble, if there is one; checks that hang answer now."""
        if self._condition is Condition.WELL:
            return
        self._condition = Condition.WELL
        self._freed.set()
        self._journal.note(Moment.RELIEF, self.id)

    async def _start(self) -> None:
        if self._condition is Condition.ILL:
            self.relieve()
        self._journal.note(Moment.LIVES, self.id)

    async def _stop(self) -> None:
        pass

    async def _check(self) -> WorkerHealth:
        self._journal.note(Moment.CHECK, self.id)
        if self._condition is Condition.ILL:
            return WorkerHealth(healthy=False, detail="ill")
        while self._condition is Condition.STUCK:
            with contextlib.suppress(asyncio.CancelledError):
                await self._freed.wait()
        return WorkerHealth(healthy=True)

    async def _execute(self, task: Task[In, Out], value: In) -> Out:
        self._journal.note(Moment.BEGUN, self.id, task=task.id)
        number = value if isinstance(value, int) else 0
        await asyncio.sleep(self.takes_s * self._lengths[number % len(self._lengths)])
        if self._condition is not Condition.WELL:
            await asyncio.Event().wait()
        output = task.execute(value)
        if inspect.isawaitable(output):
            output = await output
        self._journal.note(Moment.DONE, self.id, task=task.id)
        return cast("Out", output)


def double(value: int) -> int:
    """Do the work of every task."""
    return 2 * value


async def call(
    manager: Manager, numbers: Iterable[int], callers: int, *, clock: Clock, ids: IdGenerator
) -> list[Answer]:
    """Let callers assign one task after the other while there are numbers.

    A caller whose task fails makes no further call.
    """
    answers: list[Answer] = []
    shared = iter(numbers)

    async def caller() -> None:
        for number in shared:
            task = Task(double, task_id=ids.new_id(), created_s=clock.wall_s())
            try:
                result = await manager.assign(task, number)
            except WorkerError as error:
                answers.append(Answer(task.id, task.metadata.workers, right=False, error=error.message))
                return
            answers.append(Answer(task.id, task.metadata.workers, right=result == double(number)))

    await asyncio.gather(*(caller() for _ in range(callers)))
    return answers
