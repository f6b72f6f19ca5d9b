"""Restarts failed workers, each on its own, with growing waits and up to a limit per time."""

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

_ON_ITS_WAY: Final = frozenset({WorkerStatus.FAILED, WorkerStatus.STARTING})


class SupervisorEventKind(StrEnum):
    """What became of a failed worker."""

    RESTARTED = "restarted"
    RESTART_FAILED = "failed"
    """It did not start; it is tried again."""
    GAVE_UP = "given_up"
    """It needed more restarts than allowed. It is left alone until it is removed and added anew."""


@dataclass(frozen=True, slots=True)
class SupervisorEvent:
    """One thing a supervisor did."""

    kind: SupervisorEventKind
    worker_id: str
    restarts: int
    """Within the window, with this one."""
    reason: str
    """For people: why it did not start, or was given up; empty after a restart."""


class Supervisor(MemberMonitor):
    """Restarts the members of a pool that fail, or had failed before, while its context is entered, which it is once.

    A start that takes too long is cancelled; until it has ended there is no other of the same worker.
    """

    def __init__(
        self,
        pool: WorkerGroup[Any],
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
        super().__init__(pool, patience_s=self._start_timeout_s, logger=logger or logging.getLogger(__name__))

    def will_restart(self, worker_id: str) -> bool:
        """Say whether a member may become ready without anybody else's doing: it failed or starts, and has a chance."""
        if not self._active or worker_id not in self._pool or self._pool.leaving(worker_id):
            return False
        member = self._pool.get(worker_id)
        return member.status in _ON_ITS_WAY and member not in self._given_up

    def _needs_care(self, member: Member) -> bool:
        return not self._pool.leaving(member.id) and member not in self._given_up

    def _end_care(self, member: Member) -> None:
        super()._end_care(member)
        if member.id not in self._pool:
            self._given_up.discard(member)

    async def _care(self, member: Member) -> None:
        await self._quiet(member)
        restarts: deque[float] = deque()
        while True:
            await _failed(member)
            while restarts and self._clock.monotonic_s() - restarts[0] >= self._window_s:
                restarts.popleft()
            if len(restarts) >= self._max_restarts:
                self._given_up.add(member)
                reason = f"it failed again after {len(restarts)} restarts within {self._window_s:g} s"
                self._tell(SupervisorEventKind.GAVE_UP, member, len(restarts), reason)
                return
            await asyncio.sleep(self._backoff.after(len(restarts)))
            await self._restart(member, restarts)

    async def _restart(self, member: Member, restarts: deque[float]) -> None:
        call = await self._call(member, self._start(member, restarts), self._start_timeout_s)
        in_time = call.done()
        await self._quiet(member)
        if call.cancelled():
            reason = "its start was cancelled" if in_time else f"it did not start within {self._start_timeout_s:g} s"
            self._tell(SupervisorEventKind.RESTART_FAILED, member, len(restarts), reason)
        elif (error := call.exception()) is not None:
            self._tell(SupervisorEventKind.RESTART_FAILED, member, len(restarts), shown(error))
        elif call.result():
            self._tell(SupervisorEventKind.RESTARTED, member, len(restarts), "")

    async def _start(self, member: Member, restarts: deque[float]) -> bool:
        """Start it unless it is leaving, or somebody started or stopped it meanwhile; say whether it was started."""
        if member.status is not WorkerStatus.FAILED or self._pool.leaving(member.id):
            return False
        restarts.append(self._clock.monotonic_s())
        with self._telemetry.span(RESTART, member.id, member.info.kind):
            await member.start()
        return True

    def _tell(self, kind: SupervisorEventKind, member: Member, restarts: int, reason: str) -> None:
        level = logging.INFO if kind is SupervisorEventKind.RESTARTED else logging.WARNING
        self._log.log(level, "worker %s: %s; %d restarts within the window; %s", member.id, kind, restarts, reason)
        self._telemetry.add(RESTARTS, 1, member.info.kind, kind)
        if self._observer is not None:
            try:
                self._observer(SupervisorEvent(kind, member.id, restarts, reason))
            except Exception:
                self._log.exception("the observer of a supervisor failed")


async def _failed(member: Member) -> None:
    """Return when the member has failed."""
    failed = asyncio.Event()

    def see(member: Member) -> None:
        if member.status is WorkerStatus.FAILED:
            failed.set()

    end_watching = member.watch(see)
    try:
        see(member)
        await failed.wait()
    finally:
        end_watching()
