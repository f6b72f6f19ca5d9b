"""The same for programs without an event loop: a scheduler on a loop in a thread of its own."""

import asyncio
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import CancelledError
from types import TracebackType
from typing import Self

from fairlane.config import SchedulerConfig, TenantConfig
from fairlane.domain.task import OnUnknown, TaskRef, TaskState, TaskView
from fairlane.errors import Rejected, RuntimeStartError, StoreUnavailable
from fairlane.lifecycle.estimate import Estimator
from fairlane.lifecycle.handle import TaskHandle
from fairlane.lifecycle.sizing import Coverage
from fairlane.lifecycle.submission import DEFAULT_PRIORITY, TaskSpec
from fairlane.providers.base import Provider
from fairlane.runtime.loop_thread import LoopThread
from fairlane.runtime.platform import Platform
from fairlane.runtime.scheduler import Scheduler
from fairlane.store.messages import CancelStatus, Ledger, Snapshot, WorkerView


class SyncTaskHandle:
    """A submitted task; see `TaskHandle`."""

    def __init__(self, loop: LoopThread, handle: TaskHandle) -> None:
        self._loop = loop
        self.handle = handle
        """The asynchronous handle."""

    @property
    def ref(self) -> TaskRef:
        """The task's name."""
        return self.handle.ref

    def result(self, timeout_s: float | None = None) -> object:
        """Wait for the result; see `TaskHandle.result`."""
        return self._loop.run(self.handle.result(timeout_s))

    def state(self) -> TaskState | None:
        """Return where the task is now; None if it is unknown."""
        return self._loop.run(self.handle.state())

    def cancel(self) -> CancelStatus:
        """Ask for the task's end."""
        return self._loop.run(self.handle.cancel())


class SyncScheduler:
    """A `Scheduler` for synchronous code; a context manager. May be used from several threads."""

    def __init__(
        self,
        config: SchedulerConfig | None = None,
        provider: str | Provider | None = None,
        *,
        platform: Platform | None = None,
        estimator: Estimator | None = None,
    ) -> None:
        self.scheduler = Scheduler(config, provider, platform=platform, estimator=estimator)
        """The asynchronous scheduler; it belongs to another thread's loop."""
        self._loop: LoopThread | None = None
        self._life = threading.RLock()
        """Held by who starts or stops; a signal's handler that comes on the same thread gets it, too."""
        self._changing = False
        """Who holds it has begun, and is not done."""
        self._start: asyncio.Task[None] | None = None
        self._is_stopped = False
        """It was asked to stop since its start began."""

    def start(self) -> None:
        """See `Scheduler.start`. A stop meanwhile, by another thread or by a signal's handler, ends it.

        Raises:
            RuntimeStartError: it is started already, or was stopped meanwhile; and what `Scheduler.start` raises.
        """
        with self._life:
            name = self.scheduler.config.name
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
        """See `Scheduler.stop`. Another thread's waits for the one under way.

        One by a signal's handler, on the thread that is starting or stopping it, returns at once.
        """
        self._is_stopped = True
        loop = self._loop
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

    def submit(
        self,
        tenant: str,
        payload: object,
        *,
        cost: int | None = None,
        task_id: str | None = None,
        priority: int = DEFAULT_PRIORITY,
        deadline_s: float | None = None,
        on_unknown: OnUnknown = OnUnknown.RETRY,
    ) -> SyncTaskHandle:
        """Submit one task; see `Scheduler.submit`."""
        loop = self._started
        submitting = self.scheduler.submit(
            tenant,
            payload,
            cost=cost,
            task_id=task_id,
            priority=priority,
            deadline_s=deadline_s,
            on_unknown=on_unknown,
        )
        return SyncTaskHandle(loop, loop.run(submitting))

    def submit_many(self, specs: Iterable[TaskSpec]) -> list[SyncTaskHandle | Rejected | StoreUnavailable]:
        """Submit many tasks, one answer each; see `Scheduler.submit_many`."""
        loop = self._started
        answers = loop.run(self.scheduler.submit_many(specs))
        return [SyncTaskHandle(loop, item) if isinstance(item, TaskHandle) else item for item in answers]

    def wait_many(self, handles: Sequence[SyncTaskHandle], timeout_s: float | None = None) -> list[object]:
        """Wait for all; see `Scheduler.wait_many`."""
        return self._started.run(self.scheduler.wait_many([item.handle for item in handles], timeout_s))

    def coverage(self, tenant: str | None = None) -> Coverage:
        """Report how well holds covered what tasks cost; see `Client.coverage`."""

        async def read() -> Coverage:
            return self.scheduler.coverage(tenant)

        return self._started.run(read())

    def get(self, tenant: str, task_id: str) -> TaskView | None:
        """Return a task as it is now; None if it is unknown."""
        return self._started.run(self.scheduler.get(tenant, task_id))

    def cancel(self, tenant: str, task_id: str) -> CancelStatus:
        """Ask for a task's end."""
        return self._started.run(self.scheduler.cancel(tenant, task_id))

    def put_tenant(self, tenant: str, config: TenantConfig) -> None:
        """Register a tenant or change its limits."""
        self._started.run(self.scheduler.put_tenant(tenant, config))

    def remove_tenant(self, tenant: str) -> bool:
        """Forget a tenant; False if there is none."""
        return self._started.run(self.scheduler.remove_tenant(tenant))

    def ledger(self, tenant: str) -> Ledger | None:
        """Read what a tenant holds and has spent of its budget; None if there is no such tenant."""
        return self._started.run(self.scheduler.ledger(tenant))

    def top_up(self, tenant: str, units: int, key: str) -> int:
        """Add to a tenant's budget, once per key; see `Scheduler.top_up`."""
        return self._started.run(self.scheduler.top_up(tenant, units, key))

    def pause(self, duration_ms: int) -> None:
        """Start nothing in the pool for so long."""
        self._started.run(self.scheduler.pause(duration_ms))

    def resume(self) -> None:
        """End a pause."""
        self._started.run(self.scheduler.resume())

    def set_capacity(self, slots: int) -> int:
        """Set the capacity; return what is in force."""
        return self._started.run(self.scheduler.set_capacity(slots))

    def close_admission(self) -> None:
        """Take no new tasks; what was accepted goes on."""
        self._started.run(self.scheduler.close_admission())

    def open_admission(self) -> None:
        """Take new tasks again."""
        self._started.run(self.scheduler.open_admission())

    def snapshot(self, after_tenant: str = "", limit: int = 1000) -> Snapshot:
        """Read the pool and a page of tenants at one instant."""
        return self._started.run(self.scheduler.snapshot(after_tenant, limit))

    def workers(self) -> list[WorkerView]:
        """Read the worker incarnations the store knows."""
        return self._started.run(self.scheduler.workers())

    def add_worker(self) -> str:
        """Start one more worker; see `Scheduler.add_worker`."""
        return self._started.run(self.scheduler.add_worker())

    def remove_worker(self, name: str, grace_s: float | None = None) -> None:
        """Have a worker finish and end; see `Scheduler.remove_worker`."""
        self._started.run(self.scheduler.remove_worker(name, grace_s))

    def actor_pids(self) -> dict[str, int]:
        """Return the process id of each actor, by its name."""
        return self._started.run(self.scheduler.actor_pids())

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
