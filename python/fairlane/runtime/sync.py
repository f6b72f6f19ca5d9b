"""A scheduler for programs without an event loop: it runs on a loop in its own thread."""

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import CancelledError
from types import TracebackType
from typing import Self

from fairlane.config import SchedulerConfig
from fairlane.domain.task import TaskRef
from fairlane.errors import Rejected, RuntimeStartError, StoreUnavailable
from fairlane.lifecycle.client import Client
from fairlane.lifecycle.estimate import Estimator
from fairlane.lifecycle.handle import TaskHandle
from fairlane.lifecycle.submitter import SubmitAnswer
from fairlane.providers.base import Provider
from fairlane.runtime.derived import Blocking, blocking, of_client, on_loop
from fairlane.runtime.loop_thread import LoopThread
from fairlane.runtime.operator import SchedulerOperator
from fairlane.runtime.platform import Platform
from fairlane.runtime.scheduler import Scheduler


class SyncTaskHandle(Blocking[TaskHandle]):
    """A `TaskHandle` for synchronous code."""

    @property
    def handle(self) -> TaskHandle:
        """The asynchronous handle."""
        return self._wrapped

    @property
    def ref(self) -> TaskRef:
        """The task's tenant and id."""
        return self._wrapped.ref

    result = blocking(TaskHandle.result)
    state = blocking(TaskHandle.state)
    cancel = blocking(TaskHandle.cancel)


def _handle(loop: LoopThread, handle: TaskHandle) -> SyncTaskHandle:
    return SyncTaskHandle(loop, handle)


def _answers(loop: LoopThread, answers: list[SubmitAnswer]) -> list[SyncTaskHandle | Rejected | StoreUnavailable]:
    return [SyncTaskHandle(loop, answer) if isinstance(answer, TaskHandle) else answer for answer in answers]


class SyncClient(Blocking[Client]):
    """A `Client` for synchronous code. Can be used from several threads."""

    submit = blocking(Client.submit, _handle)
    submit_many = blocking(Client.submit_many, _answers)
    get = blocking(Client.get)
    cancel = blocking(Client.cancel)
    coverage = blocking(on_loop(Client.coverage))

    def wait_many(self, handles: Sequence[SyncTaskHandle], timeout_s: float | None = None) -> list[object]:
        """See `Client.wait_many`."""
        return self._loop.run(self._wrapped.wait_many([handle.handle for handle in handles], timeout_s))


class SyncOperator(Blocking[SchedulerOperator]):
    """A `SchedulerOperator` for synchronous code. Can be used from several threads."""

    put_tenant = blocking(SchedulerOperator.put_tenant)
    change_tenant = blocking(SchedulerOperator.change_tenant)
    remove_tenant = blocking(SchedulerOperator.remove_tenant)
    tenant = blocking(SchedulerOperator.tenant)
    ledger = blocking(SchedulerOperator.ledger)
    top_up = blocking(SchedulerOperator.top_up)
    pause = blocking(SchedulerOperator.pause)
    resume = blocking(SchedulerOperator.resume)
    set_capacity = blocking(SchedulerOperator.set_capacity)
    close_admission = blocking(SchedulerOperator.close_admission)
    open_admission = blocking(SchedulerOperator.open_admission)
    snapshot = blocking(SchedulerOperator.snapshot)
    workers = blocking(SchedulerOperator.workers)
    add_worker = blocking(SchedulerOperator.add_worker)
    remove_worker = blocking(SchedulerOperator.remove_worker)
    actor_pids = blocking(SchedulerOperator.actor_pids)


class SyncScheduler:
    """A `Scheduler` for synchronous code. A context manager. Can be used from several threads.

    It belongs to the process that started it: in a forked child `stop` does nothing, and everything else raises
    RuntimeStartError.
    """

    def __init__(
        self,
        config: SchedulerConfig | None = None,
        provider: str | Provider | None = None,
        *,
        platform: Platform | None = None,
        estimator: Estimator | None = None,
    ) -> None:
        self.scheduler = Scheduler(config, provider, platform=platform, estimator=estimator)
        """The asynchronous scheduler; use it only on the loop of its thread."""
        self._loop: LoopThread | None = None
        self._life = threading.RLock()
        """Held during a start or a stop. Re-entrant, so a signal handler on the same thread gets it too."""
        self._changing = False
        """A start or a stop is under way."""
        self._start: asyncio.Task[None] | None = None
        self._is_stopped = False
        """`stop` was called after the start began."""

    def start(self) -> None:
        """See `Scheduler.start`. A `stop` by another thread or by a signal handler ends the start.

        Raises:
            RuntimeStartError: the scheduler is already started, or was stopped during the start; and the errors of
                `Scheduler.start`.
        """
        name = self.scheduler.config.name
        if self._loop is not None and self._loop.is_foreign:
            raise RuntimeStartError(f"scheduler {name} was started before this process was forked: make another")
        with self._life:
            if self._loop is not None:
                raise RuntimeStartError(f"scheduler {name} is already started")
            self._is_stopped, self._changing = False, True
            try:
                self._loop = LoopThread(f"scheduler {name} is not started")
                self._loop.run(self._begin())
            except CancelledError:
                self._end()
                raise RuntimeStartError(f"scheduler {name} was stopped while it started") from None
            except BaseException:
                self._end()
                raise
            finally:
                self._changing = False

    def stop(self) -> None:
        """See `Scheduler.stop`. If another thread is already stopping the scheduler, waits for that stop.

        Returns at once in a signal handler on the thread that is starting or stopping the scheduler.
        """
        loop = self._loop
        if loop is not None and loop.is_foreign:
            return
        self._is_stopped = True
        if loop is not None:
            loop.call(self._end_start)
        with self._life:
            if self._changing or self._loop is None:
                return
            self._changing = True
            try:
                self._loop.run(self.scheduler.stop())
            finally:
                self._end()
                self._changing = False

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    submit = of_client(SyncClient.submit)
    submit_many = of_client(SyncClient.submit_many)
    wait_many = of_client(SyncClient.wait_many)

    @property
    def client(self) -> SyncClient:
        """See `Scheduler.client`."""
        return SyncClient(self._started, self.scheduler.client)

    @property
    def operator(self) -> SyncOperator:
        """See `Scheduler.operator`."""
        return SyncOperator(self._started, self.scheduler.operator)

    @property
    def _started(self) -> LoopThread:
        if self._loop is None:
            raise RuntimeStartError(f"scheduler {self.scheduler.config.name} is not started")
        return self._loop

    async def _begin(self) -> None:
        self._start = asyncio.current_task()
        try:
            if not self._is_stopped:
                await self.scheduler.start()
        finally:
            self._start = None
        if self._is_stopped:
            await self.scheduler.stop()
            raise asyncio.CancelledError

    def _end_start(self) -> None:
        if self._start is not None:
            self._start.cancel()

    def _end(self) -> None:
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.close()
