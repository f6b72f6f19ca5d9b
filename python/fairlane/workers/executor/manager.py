"""Executes tasks on a group's workers: waits for a slot, retries elsewhere, and keeps the workers alive meanwhile."""

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
from fairlane.workers.guards import SingleUse
from fairlane.workers.members.group import WorkerGroup
from fairlane.workers.members.health_checker import HealthChecker
from fairlane.workers.members.starter import Starter
from fairlane.workers.members.status import TaskStatus
from fairlane.workers.members.supervisor import Supervisor
from fairlane.workers.strategies.registry import make_strategy

_COMPLETED: Final = "completed"
_REFUSED: Final = frozenset({WorkerErrorCode.WORKER_NOT_READY, WorkerErrorCode.WORKER_AT_CAPACITY})
_FINAL_STATUS: Final[Mapping[str, TaskStatus]] = {
    _COMPLETED: TaskStatus.COMPLETED,
    WorkerErrorCode.TASK_CANCELLED: TaskStatus.CANCELLED,
}


class Manager:
    """Async context manager; use it once.

    On entry it starts the members in status created, and afterwards those that are added in it. On exit it stops all
    members of the group.
    """

    def __init__(
        self,
        group: WorkerGroup[Any],
        config: ManagerConfig | None = None,
        *,
        retry_on: tuple[type[Exception], ...] = (),
        clock: Clock = SYSTEM_CLOCK,
        rng: Rng | None = None,
        ids: IdGenerator = RANDOM_IDS,
        telemetry: Telemetry | None = None,
        logger: logging.Logger | None = None,
    ) -> None:
        """``retry_on``: exceptions of a task's work that are retried.

        The strategy has its own random source, seeded from ``rng``, so that other uses of ``rng`` do not change its
        choices.

        Raises:
            WorkerError: invalid_configuration: an argument cannot be used, or the strategy cannot be created.
        """
        config = ManagerConfig() if config is None else config
        if not isinstance(group, WorkerGroup):
            raise invalid("group", group, "a WorkerGroup")
        if not isinstance(config, ManagerConfig):
            raise invalid("config", config, "a ManagerConfig")
        rng = rng or system_rng()
        self._strategy = config.strategy
        self._attempt_limit_s = config.attempt_timeout_ms and config.attempt_timeout_ms / 1000
        self._clock = clock
        self._ids = ids
        self._telemetry = telemetry or Telemetry()
        self._log = logger or logging.getLogger(__name__)
        self._single_use = SingleUse("Manager")
        self._closed = asyncio.Event()
        self._stack = contextlib.AsyncExitStack()
        self._starter = Starter(
            group,
            start_timeout_s=(config.supervisor or SupervisorConfig()).start_timeout_ms / 1000,
            grace_s=config.stop_grace_ms / 1000,
            logger=logger,
        )
        self._supervisor = (
            Supervisor(
                group,
                config.supervisor,
                clock=clock,
                rng=rng,
                telemetry=self._telemetry,
                logger=logger,
                observer=lambda event: self._placement.refresh(event.worker_id),
            )
            if config.supervisor
            else None
        )
        self._checker = (
            HealthChecker(group, config.health, clock=clock, rng=rng, telemetry=self._telemetry, logger=logger)
            if config.health
            else None
        )
        self._placement = Placement(
            group,
            make_strategy(config.strategy, derived_rng(rng)),
            config.strategy,
            queue_limit=config.queue_limit,
            will_restart=self._supervisor.will_restart if self._supervisor else lambda _: False,
            clock=clock,
            telemetry=self._telemetry,
        )
        self._retries = Retries(config, retry_on, rng=rng, sleep=self._sleep)

    async def __aenter__(self) -> Self:
        """Start the members, and wait at most ``start_timeout_ms`` for each.

        Raises:
            WorkerError: illegal_transition: it was entered before; worker_start_failed: a member did not start and
                there is no supervisor; all members are stopped.
        """
        self._single_use.begin()
        async with contextlib.AsyncExitStack() as stack:
            starter = await stack.enter_async_context(self._starter)
            failures = await starter.start_all()
            if failures and self._supervisor is None:
                raise failures[0]
            if self._supervisor is not None:
                await stack.enter_async_context(self._supervisor)
            if self._checker is not None:
                await stack.enter_async_context(self._checker)
            stack.callback(self._close)
            self._placement.open()
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Refuse new tasks, let running ones end within the grace time, and stop all members.

        Raises:
            WorkerError: worker_stop_failed: a member did not stop; all others were stopped first.
        """
        await self._stack.__aexit__(kind, error, trace)

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

        ``timeout_s`` limits the whole call: waiting for slots, attempts and the waits between them. A cancellation ends
        the call at once and leaves the task cancelled.

        Raises:
            WorkerError: no_workers_available, queue_full, task_timeout, task_failed, task_cancelled, retries_exhausted;
                illegal_transition: the task was assigned before; invalid_configuration: an argument cannot be used.
        """
        limit_s = checked_timeout(timeout_s)
        task = self._as_task(work)
        with self._track(task):
            async with deadline(task, limit_s, "did not end within"):
                return await self._retries.run(
                    lambda: self._attempt(task, value), lambda error: self._before_retry(task, error)
                )

    async def _attempt(self, task: Task[In, Out], value: In) -> Out:
        worker = await self._placement.acquire(task.metadata.workers)
        task.begin(worker.id)
        async with deadline(task, self._attempt_limit_s, f"timed out on worker {worker.id} after"):
            try:
                return await worker.execute(task, value)
            except WorkerError as error:
                if error.code in _REFUSED:
                    self._placement.refresh(worker.id)  # no event will undo the load that the choice added
                raise
            except Exception as error:  # a worker that breaks its contract
                raise WorkerError(
                    WorkerErrorCode.TASK_FAILED,
                    f"task {task.id} failed on worker {worker.id}: {shown(error, repr)[:500]}",
                    worker=worker.id,
                    task=task.id,
                ) from error

    def _before_retry(self, task: Task[Any, Any], error: WorkerError) -> None:
        task.move(TaskStatus.PENDING)
        self._telemetry.add(RETRIES, 1, self._strategy, error.code)
        self._log.info("retrying task %s after attempt %d: %s", task.id, task.metadata.attempts, error)

    async def _sleep(self, seconds: float) -> None:
        """Wait before a retry, at most until the manager exits."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closed.wait()

    def _close(self) -> None:
        self._placement.close()
        self._closed.set()

    def _as_task(self, work: Task[In, Out] | Work[In, Out]) -> Task[In, Out]:
        if isinstance(work, Task):
            return work
        return Task(work, task_id=self._ids.new_id(), created_s=self._clock.wall_s())

    @contextlib.contextmanager
    def _track(self, task: Task[Any, Any]) -> Iterator[None]:
        """Claim the task; when the block ends, set its final status and record the outcome.

        Raises WorkerError: illegal_transition: the task was claimed before.
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
            task.move(_FINAL_STATUS.get(outcome, TaskStatus.FAILED))
            self._telemetry.add(TASKS, 1, self._strategy, outcome)
            self._telemetry.observe(TASK_DURATION, self._clock.monotonic_s() - began_s, self._strategy, outcome)
