"""The life of a member: its status, load and figures, and who is told. What it lives on is left to its transport."""

import asyncio
import contextlib
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Final

from fairlane.clock import SYSTEM_CLOCK, Clock
from fairlane.pool.errors import PoolError, PoolErrorCode
from fairlane.pool.metrics import MetricsAccumulator, WorkerMetrics
from fairlane.pool.status import WORKER_MOVES, WorkerStatus, moved
from fairlane.pool.worker import Member, WorkerHealth, WorkerInfo
from fairlane.telemetry import Telemetry
from fairlane.telemetry.names import LOAD, WORKERS

AT_WORK: Final = frozenset({WorkerStatus.READY, WorkerStatus.BUSY, WorkerStatus.DRAINING})
_MAY_FAIL: Final = AT_WORK | {WorkerStatus.STARTING}
_AT_REST: Final = frozenset({WorkerStatus.CREATED, WorkerStatus.STOPPED})


class AbstractMember(ABC):
    """See Member. A transport writes `_start`, `_stop` and `_check`; all methods belong to one event loop."""

    def __init__(
        self,
        info: WorkerInfo,
        *,
        clock: Clock = SYSTEM_CLOCK,
        telemetry: Telemetry | None = None,
        logger: logging.Logger | None = None,
    ) -> None:
        self._info = info
        self._clock = clock
        self._telemetry = telemetry or Telemetry()
        self._log = logger or logging.getLogger(__name__)
        self._accumulator = MetricsAccumulator()
        self._status = WorkerStatus.CREATED
        self._load = 0
        self._watchers: list[Callable[[Member], None]] = []
        self._idle = asyncio.Event()
        self._idle.set()
        self._telemetry.add(WORKERS, 1, info.kind, self._status)

    # -- what the transport writes ---------------------------------------------------------------------------

    @abstractmethod
    async def _start(self) -> None:
        """Begin to live. Clean up after yourself before raising; any exception means that it did not start."""

    @abstractmethod
    async def _stop(self) -> None:
        """End, with all that still runs. Also called after a failure, and before a start that follows one."""

    @abstractmethod
    async def _check(self) -> WorkerHealth:
        """Ask how it is."""

    # -- what is known ---------------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        """See Member."""
        return self._info.id

    @property
    def info(self) -> WorkerInfo:
        """See Member."""
        return self._info

    @property
    def status(self) -> WorkerStatus:
        """See Member."""
        return self._status

    @property
    def load(self) -> int:
        """See Member."""
        return self._load

    @property
    def metrics(self) -> WorkerMetrics:
        """See Member."""
        return self._accumulator.read()

    def watch(self, watcher: Callable[[Member], None]) -> Callable[[], None]:
        """See Member."""
        self._watchers.append(watcher)

        def end() -> None:
            with contextlib.suppress(ValueError):
                self._watchers.remove(watcher)

        return end

    def update(self, info: WorkerInfo) -> None:
        """See Member."""
        if (info.id, info.kind) != (self._info.id, self._info.kind):
            raise PoolError(
                PoolErrorCode.INVALID_CONFIGURATION,
                f"worker {self.id} of kind {self._info.kind} cannot become {info.id} of kind {info.kind}",
                worker=self.id,
            )
        self._info = info
        self._settle_status()
        self._changed()

    # -- life ------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """See Member."""
        failed_before = self._status is WorkerStatus.FAILED
        self._move(WorkerStatus.STARTING)
        try:
            if failed_before:
                await self._stop()
            await self._start()
        except asyncio.CancelledError:
            self._move(WorkerStatus.FAILED)
            raise
        except Exception as error:
            self._move(WorkerStatus.FAILED)
            raise PoolError(
                PoolErrorCode.WORKER_START_FAILED, f"worker {self.id} did not start: {error}", worker=self.id
            ) from error
        if self._status is not WorkerStatus.STARTING:
            await self._stop()
            raise PoolError(
                PoolErrorCode.WORKER_START_FAILED, f"worker {self.id} became {self._status} instead", worker=self.id
            )
        self._move(WorkerStatus.READY)
        self._settle_status()

    async def drain(self) -> None:
        """See Member."""
        if self._status in {WorkerStatus.READY, WorkerStatus.BUSY}:
            self._move(WorkerStatus.DRAINING)
        await self._idle.wait()

    async def stop(self, grace_s: float = 0.0) -> None:
        """See Member."""
        if self._status is WorkerStatus.STOPPED:
            return
        if self._status is WorkerStatus.CREATED:
            self._move(WorkerStatus.STOPPED)
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace_s):
                await self.drain()
        self._end_running()
        try:
            await self._stop()
        except Exception as error:
            self.fail(f"did not stop: {error}")
            raise PoolError(
                PoolErrorCode.WORKER_STOP_FAILED, f"worker {self.id} did not stop: {error}", worker=self.id
            ) from error
        if self._status not in _AT_REST:
            self._move(WorkerStatus.STOPPED)

    async def health(self) -> WorkerHealth:
        """See Member."""
        if self._status not in AT_WORK:
            return WorkerHealth(healthy=False, detail=f"it is {self._status}")
        return await self._check()

    def fail(self, reason: str) -> None:
        """See Member."""
        if self._status in _MAY_FAIL:
            self._log.warning("worker %s failed: %s", self.id, reason)
            self._move(WorkerStatus.FAILED)
            self._end_running()

    # -- for subclasses --------------------------------------------------------------------------------------

    def _end_running(self) -> None:
        """End what still runs: the member failed, or its grace time is over."""

    def _change_load(self, by: int) -> None:
        self._load += by
        self._telemetry.add(LOAD, by, self._info.kind)
        if self._load == 0:
            self._idle.set()
        else:
            self._idle.clear()
        self._settle_status()
        self._changed()

    def _settle_status(self) -> None:
        """Say whether there is a free slot."""
        full = self._load >= self._info.capacity
        if self._status is WorkerStatus.READY and full:
            self._move(WorkerStatus.BUSY)
        elif self._status is WorkerStatus.BUSY and not full:
            self._move(WorkerStatus.READY)

    def _move(self, to: WorkerStatus) -> None:
        before = self._status
        self._status = moved(f"worker {self.id}", WORKER_MOVES, before, to)
        self._telemetry.add(WORKERS, -1, self._info.kind, before)
        self._telemetry.add(WORKERS, 1, self._info.kind, to)
        self._changed()

    def _changed(self) -> None:
        for watcher in tuple(self._watchers):
            watcher(self)
