"""Restarts failed workers with growing waits, up to a limit of restarts within a time window."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from fairlane.backoff import Backoff
from fairlane.clock import SYSTEM_CLOCK, Clock, Rng, system_rng
from fairlane.config.workers import SupervisorConfig
from fairlane.telemetry import Telemetry
from fairlane.telemetry.names import RESTART, RESTARTS
from fairlane.workers.errors import invalid, shown
from fairlane.workers.members.group import WorkerGroup
from fairlane.workers.members.member import Member
from fairlane.workers.members.monitor import MemberMonitor
from fairlane.workers.members.status import WorkerStatus

_RECOVERABLE: Final = frozenset({WorkerStatus.FAILED, WorkerStatus.STARTING})


class SupervisorEventKind(StrEnum):
    """The outcome of a restart, or the end of restarts."""

    RESTARTED = "restarted"
    RESTART_FAILED = "failed"
    """The worker did not start; the supervisor tries again."""
    GAVE_UP = "given_up"
    """The worker needs more restarts than allowed. The supervisor ignores it until it is removed and added again."""


@dataclass(frozen=True, slots=True)
class SupervisorEvent:
    """One action of a supervisor."""

    kind: SupervisorEventKind
    worker_id: str
    restarts: int
    """Within the window, this one included."""
    reason: str
    """For people: why it did not start, or was given up; empty after a restart."""


class Supervisor(MemberMonitor):
    """Restarts the members of a group that fail, or failed before it was entered. Async context manager; use it once.

    A start that takes too long is cancelled. Until it has really ended, the same worker is not started again.
    """

    def __init__(
        self,
        group: WorkerGroup[Any],
        config: SupervisorConfig,
        *,
        clock: Clock = SYSTEM_CLOCK,
        rng: Rng | None = None,
        telemetry: Telemetry | None = None,
        logger: logging.Logger | None = None,
        observer: Callable[[SupervisorEvent], None] | None = None,
    ) -> None:
        """Raises WorkerError: invalid_configuration."""
        if not isinstance(config, SupervisorConfig):
            raise invalid("config", config, "a SupervisorConfig")
        if observer is not None and not callable(observer):
            raise invalid("observer", observer, "callable, or None")
        self._max_restarts = config.max_restarts
        self._window_s = config.window_ms / 1000
        self._start_timeout_s = config.start_timeout_ms / 1000
        self._backoff = Backoff(config.backoff_base_ms / 1000, config.backoff_cap_ms / 1000, rng or system_rng())
        self._clock = clock
        self._telemetry = telemetry or Telemetry()
        self._observer = observer
        self._given_up: set[Member] = set()
        super().__init__(group, cancel_wait_s=self._start_timeout_s, logger=logger or logging.getLogger(__name__))

    def will_restart(self, worker_id: str) -> bool:
        """Return whether the supervisor may yet make a member ready: it failed or is starting, and is not given up."""
        if not self._active or worker_id not in self._group or self._group.leaving(worker_id):
            return False
        member = self._group.get(worker_id)
        return member.status in _RECOVERABLE and member not in self._given_up

    def _should_monitor(self, member: Member) -> bool:
        return not self._group.leaving(member.id) and member not in self._given_up

    def _stop_monitoring(self, member: Member) -> None:
        super()._stop_monitoring(member)
        if member.id not in self._group:
            self._given_up.discard(member)

    async def _monitor(self, member: Member) -> None:
        await self._call_ended(member)
        restarts: deque[float] = deque()
        while True:
            await _failure(member)
            while restarts and self._clock.monotonic_s() - restarts[0] >= self._window_s:
                restarts.popleft()
            if len(restarts) >= self._max_restarts:
                self._given_up.add(member)
                reason = f"it failed again after {len(restarts)} restarts within {self._window_s:g} s"
                self._report(SupervisorEventKind.GAVE_UP, member, len(restarts), reason)
                return
            await asyncio.sleep(self._backoff.after(len(restarts)))
            await self._restart(member, restarts)

    async def _restart(self, member: Member, restarts: deque[float]) -> None:
        call = await self._call(member, self._start(member, restarts), self._start_timeout_s)
        in_time = call.done()
        await self._call_ended(member)
        if call.cancelled():
            reason = "its start was cancelled" if in_time else f"it did not start within {self._start_timeout_s:g} s"
            self._report(SupervisorEventKind.RESTART_FAILED, member, len(restarts), reason)
        elif (error := call.exception()) is not None:
            self._report(SupervisorEventKind.RESTART_FAILED, member, len(restarts), shown(error))
        elif call.result():
            self._report(SupervisorEventKind.RESTARTED, member, len(restarts), "")

    async def _start(self, member: Member, restarts: deque[float]) -> bool:
        """Start a member unless it is leaving, or was started or stopped in between; return whether it was started."""
        if member.status is not WorkerStatus.FAILED or self._group.leaving(member.id):
            return False
        restarts.append(self._clock.monotonic_s())
        with self._telemetry.span(RESTART, member.id, member.info.kind):
            await member.start()
        return True

    def _report(self, kind: SupervisorEventKind, member: Member, restarts: int, reason: str) -> None:
        level = logging.INFO if kind is SupervisorEventKind.RESTARTED else logging.WARNING
        self._log.log(level, "worker %s: %s; %d restarts within the window; %s", member.id, kind, restarts, reason)
        self._telemetry.add(RESTARTS, 1, member.info.kind, kind)
        if self._observer is not None:
            try:
                self._observer(SupervisorEvent(kind, member.id, restarts, reason))
            except Exception:
                self._log.exception("the observer of a supervisor failed")


async def _failure(member: Member) -> None:
    """Return when the member has failed."""
    failed = asyncio.Event()

    def on_change(member: Member) -> None:
        if member.status is WorkerStatus.FAILED:
            failed.set()

    unwatch = member.watch(on_change)
    try:
        on_change(member)
        await failed.wait()
    finally:
        unwatch()
