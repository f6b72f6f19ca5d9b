"""Brings tasks to workers: waits for a slot, executes, tries again elsewhere, and keeps the workers alive meanwhile."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, Final, Self, overload

from fairlane.clock import RANDOM_IDS, SYSTEM_CLOCK, Clock, IdGenerator, Rng, derived_rng, system_rng
from fairlane.config.workers import ManagerConfig, SupervisorConfig
from fairlane.telemetry import Telemetry
from fairlane.telemetry.names import ASSIGN, RETRIES, TASK_DURATION, TASKS
from fairlane.workers.errors import WorkerError, WorkerErrorCode, invalid, shown
from fairlane.workers.executor.deadline import checked_timeout, deadline
from fairlane.workers.executor.placement import Placement
from fairlane.workers.executor.retries import Retries
from fairlane.workers.executor.task import In, Out, Task, Work
from fairlane.workers.members.group import WorkerGroup
from fairlane.workers.members.health_checker import HealthChecker
from fairlane.workers.members.starter import Starter
from fairlane.workers.members.status import TaskStatus
from fairlane.workers.members.supervisor import Supervisor
from fairlane.workers.once import Once
from fairlane.workers.strategies.registry import make_strategy

_COMPLETED: Final = "completed"
_NOT_TAKEN: Final = frozenset({WorkerErrorCode.WORKER_NOT_READY, WorkerErrorCode.WORKER_AT_CAPACITY})
_LAST_STATUS: Final[Mapping[str, TaskStatus]] = {
    _COMPLETED: TaskStatus.COMPLETED,
    WorkerErrorCode.TASK_CANCELLED: TaskStatus.CANCELLED,
}


class Manager:
    """Takes tasks while its context is entered.

    On entering it starts the members that are only created, and from then on those that are added in that status; on
    leaving it stops all members of its pool. It is entered once.
    """

    def __init__(
        self,
        pool: WorkerGroup[Any],
        config: ManagerConfig | None = None,
        *,
        retry_on: tuple[type[Exception], ...] = (),
        clock: Clock = SYSTEM_CLOCK,
        rng: Rng | None = None,
        ids: IdGenerator = RANDOM_IDS,
        telemetry: Telemetry | None = None,
        logger: logging.Logger | None = None,
    ) -> None:
        """``retry_on``: exceptions of a task's work after which another attempt is worth while.

        The strategy has a source of chance of its own, begun from ``rng``: what else takes chance does not change its
        choices.

        Raises:
            WorkerError: invalid_configuration: an argument cannot be used, or the strategy cannot be made.
        """
        config = ManagerConfig() if config is None else config
        if not isinstance(pool, WorkerGroup):
            raise invalid("pool", pool, "a WorkerGroup")
        if not isinstance(config, ManagerConfig):
            raise invalid("config", config, "a ManagerConfig")
        rng = rng or system_rng()
        self._strategy = config.strategy
        self._attempt_limit_s = config.attempt_timeout_ms and config.attempt_timeout_ms / 1000
        self._clock = clock
        self._ids = ids
        self._telemetry = telemetry or Telemetry()
        self._log = logger or logging.getLogger(__name__)
        self._once = Once("Manager")
        self._ended = asyncio.Event()
        self._parts = contextlib.AsyncExitStack()
        self._starter = Starter(
            pool,
            start_timeout_s=(config.supervisor or SupervisorConfig()).start_timeout_ms / 1000,
            grace_s=config.stop_grace_ms / 1000,
            logger=logger,
        )
        self._supervisor = (
            Supervisor(
                pool,
                config.supervisor,
                clock=clock,
                rng=rng,
                telemetry=self._telemetry,
                logger=logger,
                observer=lambda event: self._placement.reconsider(event.worker_id),
            )
            if config.supervisor
            else None
        )
        self._checker = (
            HealthChecker(pool, config.health, clock=clock, rng=rng, telemetry=self._telemetry, logger=logger)
            if config.health
            else None
        )
        self._placement = Placement(
            pool,
            make_strategy(config.strategy, derived_rng(rng)),
            config.strategy,
            queue_limit=config.queue_limit,
            will_restart=self._supervisor.will_restart if self._supervisor else lambda _: False,
            clock=clock,
            telemetry=self._telemetry,
        )
        self._retries = Retries(config, retry_on, rng=rng, pause=self._pause)

    async def __aenter__(self) -> Self:
        """Start, and wait for the members that start, each for ``start_timeout_ms`` at most.

        Raises:
            WorkerError: illegal_transition: it was entered before; worker_start_failed: there is no supervisor to try
                again, and all are stopped.
        """
        self._once.begin()
        async with contextlib.AsyncExitStack() as parts:
            starter = await parts.enter_async_context(self._starter)
            failures = await starter.start_all()
            if failures and self._supervisor is None:
                raise failures[0]
            if self._supervisor is not None:
                await parts.enter_async_context(self._supervisor)
            if self._checker is not None:
                await parts.enter_async_context(self._checker)
            parts.callback(self._close)
            self._placement.open()
            self._parts = parts.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take no task any more, let those that run go on for the grace time, and stop all members.

        Raises:
            WorkerError: worker_stop_failed, when all others have stopped.
        """
        await self._parts.__aexit__(kind, error, trace)

    @overload
    async def assign(
        self, work: Callable[[In], Awaitable[Out]], value: In, *, timeout_s: float | None = None
    ) -> Out: ...

    @overload
    async def assign(
        self, work: Task[In, Out] | Work[In, Out], value: In, *, timeout_s: float | None = None
    ) -> Out: ...

    async def assign(self, work: Task[In, Out] | Work[In, Out], value: In, *, timeout_s: float | None = None) -> Out:
        """Execute a task, or a function as a new task, on a worker, and return its output.

        ``timeout_s`` bounds all of it: waiting for slots, attempts and the time in between. A cancellation ends it at
        once and leaves the task cancelled.

        Raises:
            WorkerError: no_workers_available, queue_full, task_timeout, task_failed, task_cancelled, retries_exhausted;
                illegal_transition: the task was assigned before; invalid_configuration: an argument cannot be used.
        """
        limit_s = checked_timeout(timeout_s)
        task = self._as_task(work)
        with self._account(task):
            async with deadline(task, limit_s, "was not done within"):
                return await self._retries.run(
                    lambda: self._attempt(task, value), lambda error: self._between(task, error)
                )

    async def _attempt(self, task: Task[In, Out], value: In) -> Out:
        worker = await self._placement.take(task.metadata.workers)
        task.begin(worker.id)
        async with deadline(task, self._attempt_limit_s, f"was not executed by worker {worker.id} within"):
            try:
                return await worker.execute(task, value)
            except WorkerError as error:
                if error.code in _NOT_TAKEN:
                    self._placement.reconsider(worker.id)  # its load, which the choice has raised, will not change
                raise
            except Exception as error:  # the worker breaks its contract
                raise WorkerError(
                    WorkerErrorCode.TASK_FAILED,
                    f"task {task.id} failed on worker {worker.id}: {shown(error, repr)[:500]}",
                    worker=worker.id,
                    task=task.id,
                ) from error

    def _between(self, task: Task[Any, Any], error: WorkerError) -> None:
        task.move(TaskStatus.PENDING)
        self._telemetry.add(RETRIES, 1, self._strategy, error.code)
        self._log.info("task %s is tried again after attempt %d: %s", task.id, task.metadata.attempts, error)

    async def _pause(self, seconds: float) -> None:
        """Wait between two attempts, at most until the manager ends."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._ended.wait()

    def _close(self) -> None:
        self._placement.close()
        self._ended.set()

    def _as_task(self, work: Task[In, Out] | Work[In, Out]) -> Task[In, Out]:
        if isinstance(work, Task):
            return work
        return Task(work, task_id=self._ids.new_id(), created_s=self._clock.wall_s())

    @contextlib.contextmanager
    def _account(self, task: Task[Any, Any]) -> Iterator[None]:
        """Take the task, give it its last status, however the block ends, and record how.

        Raises WorkerError: illegal_transition: somebody has taken it before.
        """
        task.claim()
        began_s = self._clock.monotonic_s()
        outcome: str = WorkerErrorCode.TASK_FAILED
        try:
            with self._telemetry.span(ASSIGN, task.id, self._strategy):
                yield
            outcome = _COMPLETED
        except asyncio.CancelledError:
            outcome = WorkerErrorCode.TASK_CANCELLED
            raise
        except WorkerError as error:
            outcome = error.code
            raise
        finally:
            task.release()
            task.move(_LAST_STATUS.get(outcome, TaskStatus.FAILED))
            self._telemetry.add(TASKS, 1, self._strategy, outcome)
            self._telemetry.observe(TASK_DURATION, self._clock.monotonic_s() - began_s, self._strategy, outcome)
