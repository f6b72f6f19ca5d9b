"""The life of a member: status, load, metrics and watchers. The transport implements starts, stops and checks."""

import asyncio
import contextlib
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Final

from fairlane.clock import SYSTEM_CLOCK, Clock
from fairlane.telemetry import Telemetry
from fairlane.telemetry.names import LOAD, WORKERS
from fairlane.workers.errors import WorkerError, WorkerErrorCode, invalid, shown
from fairlane.workers.members.member import Member, WorkerHealth, WorkerInfo
from fairlane.workers.members.metrics import MetricsAccumulator, WorkerMetrics
from fairlane.workers.members.status import WORKER_MOVES, WorkerStatus, transition
from fairlane.workers.validation import checked_seconds

AT_WORK: Final = frozenset({WorkerStatus.READY, WorkerStatus.BUSY, WorkerStatus.DRAINING})
_MAY_FAIL: Final = AT_WORK | {WorkerStatus.STARTING}
_AT_REST: Final = frozenset({WorkerStatus.CREATED, WorkerStatus.STOPPED})


class AbstractMember(ABC):
    """See Member. A transport implements `_start`, `_stop` and `_check`.

    All methods belong to the event loop of the last start. A stopped member that runs nothing may start in another
    loop. `_start` and `_stop` never overlap, whatever is called. A caller that waits for a start is released at once by
    its own cancellation, by `fail` or by `stop`. Once a stop has reached the transport it continues even if its callers
    are cancelled.
    """

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
        self._loop: asyncio.AbstractEventLoop | None = None
        """The loop of the last start."""
        self._idle = asyncio.Event()
        self._idle.set()
        self._transport = asyncio.Lock()
        """Held while the transport's `_start` or `_stop` runs."""
        self._starting: asyncio.Future[None] | None = None
        """The outcome of the running start."""
        self._stopping: asyncio.Task[None] | None = None

    # -- what the transport writes ---------------------------------------------------------------------------

    @abstractmethod
    async def _start(self) -> None:
        """Start. Clean up before raising; any exception means that the start failed."""

    @abstractmethod
    async def _stop(self) -> None:
        """End everything that still runs. Also called before a start that follows a failure, possibly a second time.

        An exception means that it did not stop.
        """

    @abstractmethod
    async def _check(self) -> WorkerHealth:
        """Check health."""

    def _end_running(self) -> None:  # noqa: B027 - not every member runs something
        """Cancel what still runs and release its callers: the member failed, or its grace time is over."""

    # -- properties ------------------------------------------------------------------------------------------

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
        if not callable(watcher):
            raise invalid("watcher", watcher, "callable")
        self._watchers.append(watcher)

        def unwatch() -> None:
            with contextlib.suppress(ValueError):
                self._watchers.remove(watcher)

        return unwatch

    def update(self, info: WorkerInfo) -> None:
        """See Member."""
        if not isinstance(info, WorkerInfo):
            raise invalid("info", info, "a WorkerInfo")
        if (info.id, info.kind) != (self._info.id, self._info.kind):
            raise self._error(
                WorkerErrorCode.INVALID_CONFIGURATION,
                f"of kind {self._info.kind} cannot become {info.id} of kind {info.kind}",
            )
        self._info = info
        self._update_slot_status()
        self._notify_watchers()

    # -- life ------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """See Member."""
        self._enter_loop()
        if self._stopping is not None:
            raise self._error(WorkerErrorCode.ILLEGAL_TRANSITION, "is being stopped and cannot start")
        before = self._status
        self._move(WorkerStatus.STARTING)
        outcome = self._starting = asyncio.get_running_loop().create_future()
        starting = asyncio.create_task(self._run_start(outcome, before))
        outcome.add_done_callback(lambda _: starting.cancel())
        try:
            await outcome
        except asyncio.CancelledError:
            if outcome is self._starting:
                self.fail("its start was cancelled")
            raise

    async def drain(self) -> None:
        """See Member."""
        self._close_admission()
        await self._idle.wait()

    async def stop(self, grace_s: float = 0.0) -> None:
        """See Member."""
        limit_s = checked_seconds("grace_s", grace_s)
        if self._status is WorkerStatus.CREATED:
            self._move(WorkerStatus.STOPPED)
        if self._status in AT_WORK and self._stopping is None:
            try:
                async with asyncio.timeout(limit_s):
                    await self.drain()
            except TimeoutError:
                pass  # the stop below ends what still runs
            except Exception:
                self._log.exception("worker %s failed to drain; stopping it anyway", self.id)
        if self._status is WorkerStatus.STOPPED:
            return
        if self._stopping is None:
            self._stopping = asyncio.create_task(self._run_stop())
        await asyncio.shield(self._stopping)

    async def health(self) -> WorkerHealth:
        """See Member."""
        if self._status not in AT_WORK:
            return WorkerHealth(healthy=False, detail=f"it is {self._status}")
        return await self._check()

    def fail(self, reason: str) -> None:
        """See Member."""
        if self._status in _MAY_FAIL and self._stopping is None:
            self._log.warning("worker %s failed: %s", self.id, reason)
            self._abort_start(reason)
            self._end_running()
            self._move(WorkerStatus.FAILED)

    def _enter_loop(self) -> None:
        """Bind the member to the running event loop; its primitives and its transport cannot be shared by two."""
        loop = asyncio.get_running_loop()
        if loop is self._loop:
            return
        if self._status not in _AT_REST or self._load:
            text = "belongs to another event loop: stop it there, and let its tasks end, before starting it in this one"
            raise self._error(WorkerErrorCode.ILLEGAL_TRANSITION, text)
        self._loop = loop
        self._idle = asyncio.Event()
        self._idle.set()
        self._transport = asyncio.Lock()

    async def _run_start(self, outcome: "asyncio.Future[None]", before: WorkerStatus) -> None:
        problem: BaseException | None = None
        try:
            async with self._transport:
                if before is WorkerStatus.FAILED:
                    await self._stop()
                await self._start()
        except (Exception, asyncio.CancelledError) as error:
            problem = error
        if outcome is not self._starting:
            return  # aborted; whatever aborted it has set the status
        if problem is None:
            self._starting = None
            self._accumulator.reset_averages()
            self._set_status(WorkerStatus.READY)
            self._update_slot_status()
            self._notify_watchers()
            outcome.set_result(None)
        else:
            self._abort_start(shown(problem), problem)
            self._move(WorkerStatus.FAILED)

    async def _run_stop(self) -> None:
        try:
            self._close_admission()
            self._abort_start("it is being stopped")
            self._end_running()
            async with self._transport:
                await self._stop()
        except (Exception, asyncio.CancelledError) as error:
            if self._status is not WorkerStatus.FAILED:
                self._move(WorkerStatus.FAILED)
            raise self._error(WorkerErrorCode.WORKER_STOP_FAILED, f"did not stop: {shown(error)}") from error
        else:
            self._move(WorkerStatus.STOPPED)
        finally:
            self._stopping = None

    def _abort_start(self, reason: str, cause: BaseException | None = None) -> None:
        """Release the caller of a running start, if any, with an error."""
        outcome, self._starting = self._starting, None
        if outcome is not None and not outcome.done():
            failed = self._error(WorkerErrorCode.WORKER_START_FAILED, f"did not start: {reason}")
            failed.__cause__ = cause
            outcome.set_exception(failed)

    # -- for subclasses --------------------------------------------------------------------------------------

    def _close_admission(self) -> None:
        if self._status in {WorkerStatus.READY, WorkerStatus.BUSY}:
            self._move(WorkerStatus.DRAINING)

    def _change_load(self, by: int) -> None:
        self._load += by
        self._telemetry.add(LOAD, by, self._info.kind)
        if self._load == 0:
            self._idle.set()
        else:
            self._idle.clear()
        self._update_slot_status()
        self._notify_watchers()

    # -- internal --------------------------------------------------------------------------------------------

    def _update_slot_status(self) -> None:
        """Switch between ready and busy by whether a slot is free."""
        full = self._load >= self._info.capacity
        if self._status is WorkerStatus.READY and full:
            self._set_status(WorkerStatus.BUSY)
        elif self._status is WorkerStatus.BUSY and not full:
            self._set_status(WorkerStatus.READY)

    def _move(self, to: WorkerStatus) -> None:
        self._set_status(to)
        self._notify_watchers()

    def _set_status(self, to: WorkerStatus) -> None:
        before, self._status = self._status, transition(f"worker {self.id}", WORKER_MOVES, self._status, to)
        if before not in _AT_REST:
            self._telemetry.add(WORKERS, -1, self._info.kind, before)
        if to not in _AT_REST:
            self._telemetry.add(WORKERS, 1, self._info.kind, to)

    def _notify_watchers(self) -> None:
        for watcher in tuple(self._watchers):
            try:
                watcher(self)
            except Exception:
                self._log.exception("a watcher of worker %s failed", self.id)

    def _error(self, code: WorkerErrorCode, text: str) -> WorkerError:
        return WorkerError(code, f"worker {self.id} {text}", worker=self.id)
