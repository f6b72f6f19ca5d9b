"""A worker actor of a scheduler as a member of a pool: made, watched, drained, and brought back.

Its tasks come through the store; here it only lives. Ray restarts none of its processes: each start makes one. What
becomes of the tasks of a failed one is not decided here.
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
from fairlane.runtime.actors import Health
from fairlane.runtime.process_watch import ProcessWatch
from fairlane.runtime.ray_calls import answer, check_connected, kill, until_dead
from fairlane.telemetry import Telemetry
from fairlane.workers.members.abstract_member import AT_WORK, AbstractMember
from fairlane.workers.members.member import WorkerHealth, WorkerInfo
from fairlane.workers.members.status import WorkerStatus

KIND: Final = "scheduler"
_JOIN_S: Final = 0.25
_MARGIN_S: Final = 5.0
"""How much longer than it is given a worker may take to hand everything back, or to say that it is not ready."""
_SILENT_S: Final = 10.0
"""A worker that stops and answers nothing for so long hangs."""
_EVER_S: Final = 1e9


class WorkerMember(AbstractMember):
    """See AbstractMember. ``spawn`` makes an actor, which Ray must not restart, and is told how many there were before.

    A member whose process ends fails at once; what still runs of a failed one is killed before it is started again.
    ``worker_name`` is what the store knows it by.
    """

    def __init__(
        self,
        worker_id: str,
        worker_name: str,
        spawn: Callable[[int], Any],
        *,
        slots: int,
        start_timeout_s: float,
        restart_timeout_s: float,
        clock: Clock = SYSTEM_CLOCK,
        telemetry: Telemetry | None = None,
        logger: logging.Logger | None = None,
    ) -> None:
        info = WorkerInfo.of(id=worker_id, kind=KIND, capacity=slots)
        super().__init__(info, clock=clock, telemetry=telemetry, logger=logger)
        self.worker_name: Final = worker_name
        self.actor: Any = None
        """Ray's handle; None while it has no process, nor is given one."""
        self.incarnation: str | None = None
        """The last one known since its last start."""
        self._spawn = spawn
        self._start_timeout_s = start_timeout_s
        self._restart_timeout_s = restart_timeout_s
        self._starts = 0
        self._dying: Any = None
        """The handle of an actor that was killed, and may still have its name."""
        self._watch: ProcessWatch | None = None
        self._grace_s = _EVER_S

    @property
    def at_rest(self) -> bool:
        """Whether it has not started, or has stopped, so that it has no process and is to have none."""
        return self.status in {WorkerStatus.CREATED, WorkerStatus.STOPPED}

    async def stop(self, grace_s: float = 0.0) -> None:
        """See Member. The worker hands back what it has not finished within the grace time."""
        self._grace_s = grace_s
        await super().stop(grace_s + _MARGIN_S)

    async def drain(self) -> None:
        """See Member. The worker takes nothing new, and hands back what it has not begun."""
        self._close_admission()
        actor = self.actor
        if self.status is WorkerStatus.DRAINING:
            try:
                await answer(actor.retire.remote(self._grace_s), _SILENT_S)
                while self.status is WorkerStatus.DRAINING and not await answer(actor.join.remote(_JOIN_S), _SILENT_S):
                    pass
            except exceptions.RayActorError:
                self._lose("its process has ended")
            except TimeoutError:
                self.fail("it does not answer")
        self._hold(0)

    def kill(self) -> None:
        """End its process for good, at once."""
        self._end_watch()
        actor, self.actor = self.actor, None
        if actor is not None:
            self._dying = actor
            kill(actor, no_restart=True)

    async def ended(self) -> None:
        """Return when what was killed has ended, and its name is free. Raises TimeoutError: it has not."""
        if self._dying is not None:
            await until_dead(self._dying)
            self._dying = None

    # -- what AbstractMember asks for ------------------------------------------------------------------------

    async def _start(self) -> None:
        check_connected()
        self._grace_s = _EVER_S
        self.incarnation = None
        timeout_s = self._restart_timeout_s if self._starts else self._start_timeout_s
        self.actor = self._spawn(self._starts)
        self._starts += 1
        try:
            self._live(await self._up(timeout_s))
        except Exception as error:
            self.kill()
            if isinstance(error, exceptions.RayActorError):
                raise RuntimeStartError(f"{self.id}: it died while starting", actor=self.id) from error
            if isinstance(error, TimeoutError):
                raise RuntimeStartError(f"{self.id}: no process within {timeout_s:g} s", actor=self.id) from error
            raise

    async def _stop(self) -> None:
        if self._stopping is not None and self.status is not WorkerStatus.FAILED:
            await self._stop_now()
        self.kill()
        await self.ended()

    async def _check(self) -> WorkerHealth:
        if not ray.is_initialized():
            self._lose("Ray has ended")
            return WorkerHealth(healthy=False, detail="Ray has ended")
        actor = self.actor
        try:
            health: Health = await actor.health.remote()
        except exceptions.RayActorError:
            if self.actor is actor:
                self._lose("its process has ended")
            return WorkerHealth(healthy=False, detail="its process has ended")
        if self.actor is not actor or self.status not in AT_WORK:
            return WorkerHealth(healthy=False, detail="it has failed meanwhile")
        self.incarnation = health.incarnation
        self._hold(health.held)
        return WorkerHealth(healthy=True, detail=f"it holds {health.held} tasks")

    def _end_running(self) -> None:
        self._hold(0)

    # -- inside ----------------------------------------------------------------------------------------------

    async def _up(self, timeout_s: float) -> Health:
        """Wait until the actor does its work."""
        problem = await answer(self.actor.problem.remote(timeout_s), timeout_s + _MARGIN_S)
        if problem:
            raise RuntimeStartError(f"{self.id}: {problem}", actor=self.id)
        health: Health = await answer(self.actor.health.remote())
        return health

    def _live(self, health: Health) -> None:
        self.incarnation = health.incarnation
        if health.node == ray.get_runtime_context().get_node_id():
            self._watch = ProcessWatch(health.process, lambda: self._lose("its process has ended"))

    def _lose(self, reason: str) -> None:
        """Fail because the process has ended."""
        self._end_watch()
        self.fail(reason)

    def _end_watch(self) -> None:
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.close()

    def _hold(self, tasks: int) -> None:
        if tasks != self.load:
            self._change_load(tasks - self.load)

    async def _stop_now(self) -> None:
        """Have the worker hand back what it still has, also if it has only just started."""
        actor = self.actor
        if actor is not None and ray.is_initialized():
            with contextlib.suppress(exceptions.RayError, TimeoutError):
                async with asyncio.timeout(_MARGIN_S):
                    await actor.stop_now.remote()
                    while not await actor.join.remote(_JOIN_S):
                        pass
