"""An actor of a scheduler as a member of a group: started, watched, drained, and started again after a failure.

Tasks reach a worker through the store; here it only lives. Ray restarts no actor: each start makes one. The tasks of a
failed worker are `supervision`'s.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Any, Final

import ray
from ray import exceptions

from fairlane.clock import SYSTEM_CLOCK, Clock
from fairlane.errors import RuntimeStartError
from fairlane.run import RoleReport
from fairlane.runtime.process_watch import ProcessWatch
from fairlane.runtime.ray_actors import ActorProcess, answer, check_connected, kill, until_dead
from fairlane.telemetry import Telemetry
from fairlane.workers.members.abstract_member import AT_WORK, AbstractMember
from fairlane.workers.members.member import WorkerHealth, WorkerInfo
from fairlane.workers.members.status import WorkerStatus

_JOIN_S: Final = 0.25
_MARGIN_S: Final = 5.0
"""How much longer than its time a role may take to hand everything back, or to say why it is not ready."""
_NO_LIMIT_S: Final = 1e9
_ENDED: Final = "its process has ended"


class ActorMember(AbstractMember):
    """See AbstractMember. ``spawn`` makes an actor, given how many this member had before.

    A member whose process ends fails at once; a failed member's process is killed before another one is started.
    ``store_name`` is the name under which the store knows a worker's incarnations; None for other roles. An actor that
    is asked to stop and does not answer for ``silent_s`` hangs, and is killed.
    """

    def __init__(
        self,
        info: WorkerInfo,
        spawn: Callable[[int], Any],
        *,
        store_name: str | None = None,
        start_timeout_s: float,
        restart_timeout_s: float,
        silent_s: float,
        clock: Clock = SYSTEM_CLOCK,
        telemetry: Telemetry | None = None,
        logger: logging.Logger | None = None,
    ) -> None:
        super().__init__(info, clock=clock, telemetry=telemetry, logger=logger)
        self.store_name: Final = store_name
        self.actor: Any = None
        """Ray's handle; None while there is no process, and none is being started."""
        self.incarnation: str | None = None
        """The last one known since the last start."""
        self.spawned = asyncio.Event()
        """Set once the first actor has been made, or could not be made."""
        self._spawn = spawn
        self._start_timeout_s = start_timeout_s
        self._restart_timeout_s = restart_timeout_s
        self._silent_s = silent_s
        self._starts = 0
        self._dying: Any = None
        """The handle of an actor that was killed, and may still have its name."""
        self._watch: ProcessWatch | None = None
        self._grace_s = _NO_LIMIT_S

    @property
    def at_rest(self) -> bool:
        """Whether it has no process, and is not meant to have one."""
        return self.status in {WorkerStatus.CREATED, WorkerStatus.STOPPED}

    async def stop(self, grace_s: float = 0.0) -> None:
        """See Member. A worker hands back the tasks that it has not finished within the grace time."""
        self._grace_s = grace_s
        await super().stop(grace_s + _MARGIN_S)

    async def drain(self) -> None:
        """See Member. A worker takes nothing new, and hands back the tasks that it has not begun."""
        self._close_admission()
        actor = self.actor
        if self.status is WorkerStatus.DRAINING:
            try:
                check_connected()
                await answer(actor.stop.remote(self._grace_s), self._silent_s)
                while self.status is WorkerStatus.DRAINING:
                    if await answer(actor.join.remote(_JOIN_S), self._silent_s):
                        break
            except (exceptions.RayActorError, RuntimeStartError):
                self._lose(_ENDED)
            except TimeoutError:
                self.fail(f"it was asked to stop and did not answer within {self._silent_s:g} s")
        self._set_load(0)

    def kill(self) -> None:
        """End its process for good, at once."""
        self._end_watch()
        actor, self.actor = self.actor, None
        if actor is not None:
            self._dying = actor
            kill(actor)

    async def ended(self) -> None:
        """Return when a killed process has ended, and its name is free. Raises TimeoutError: it has not."""
        if self._dying is not None:
            await until_dead(self._dying)
            self._dying = None

    # -- for AbstractMember ----------------------------------------------------------------------------------

    async def _start(self) -> None:
        self._grace_s = _NO_LIMIT_S
        self.incarnation = None
        timeout_s = self._restart_timeout_s if self._starts else self._start_timeout_s
        try:
            check_connected()
            self.actor = self._spawn(self._starts)
        finally:
            self.spawned.set()
        self._starts += 1
        try:
            await self._become_ready(timeout_s)
        except Exception as error:
            self.kill()
            if isinstance(error, exceptions.RayActorError):
                raise RuntimeStartError(f"{self.id}: it died while starting", actor=self.id) from error
            if isinstance(error, TimeoutError):
                raise RuntimeStartError(f"{self.id}: no process within {timeout_s:g} s", actor=self.id) from error
            raise

    async def _stop(self) -> None:
        if self._stopping is not None and self.status is not WorkerStatus.FAILED:
            await self._stop_role_now()
        self.kill()
        await self.ended()

    async def _check(self) -> WorkerHealth:
        if not ray.is_initialized():
            self._lose("Ray has ended")
            return WorkerHealth(healthy=False, detail="Ray has ended")
        actor = self.actor
        try:
            report: RoleReport = await actor.health.remote()
        except exceptions.RayActorError:
            if self.actor is actor:
                self._lose(_ENDED)
            return WorkerHealth(healthy=False, detail=_ENDED)
        if self.actor is not actor or self.status not in AT_WORK:
            return WorkerHealth(healthy=False, detail="it has failed meanwhile")
        self.incarnation = report.incarnation
        self._set_load(report.held)
        return WorkerHealth(healthy=True, detail=f"it holds {report.held} tasks")

    def _end_running(self) -> None:
        self._set_load(0)

    # -- inside ----------------------------------------------------------------------------------------------

    async def _become_ready(self, timeout_s: float) -> None:
        actor = self.actor
        problem = await answer(actor.startup_error.remote(timeout_s), timeout_s + _MARGIN_S)
        if problem:
            raise RuntimeStartError(f"{self.id}: {problem}", actor=self.id)
        process: ActorProcess
        report: RoleReport
        process, report = await asyncio.gather(answer(actor.process.remote()), answer(actor.health.remote()))
        self.incarnation = report.incarnation
        self._watch = process.watch(lambda: self._lose(_ENDED))

    def _lose(self, reason: str) -> None:
        """Fail because the process has ended."""
        self._end_watch()
        self.fail(reason)

    def _end_watch(self) -> None:
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.close()

    def _set_load(self, tasks: int) -> None:
        if tasks != self.load:
            self._change_load(tasks - self.load)

    async def _stop_role_now(self) -> None:
        """Have the role hand back what it still holds, also if it has only just started."""
        actor = self.actor
        if actor is not None and ray.is_initialized():
            with contextlib.suppress(exceptions.RayError, TimeoutError):
                async with asyncio.timeout(_MARGIN_S):
                    await actor.stop_now.remote()
                    while not await actor.join.remote(_JOIN_S):
                        pass
