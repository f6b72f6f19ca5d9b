"""A worker actor of a scheduler as a member of a pool: made, watched, drained, and brought back.

Its tasks come through the store; here it only lives. Ray makes the process anew when it has ended; a member waits for
that, or ends a process that does not answer. What becomes of the tasks of a failed one is not decided here.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Any, Final

import ray
from ray import exceptions

from fairlane.clock import SYSTEM_CLOCK, Clock
from fairlane.embedded.processes import ProcessId
from fairlane.errors import RuntimeStartError
from fairlane.pool.abstract_member import AT_WORK, AbstractMember
from fairlane.pool.status import WorkerStatus
from fairlane.pool.worker import WorkerHealth, WorkerInfo
from fairlane.runtime.actors import Health
from fairlane.runtime.process_watch import ProcessWatch
from fairlane.runtime.ray_calls import RESTART_PAUSE_S, answer, check_connected, kill
from fairlane.telemetry import Telemetry

KIND: Final = "scheduler"
_JOIN_S: Final = 0.25
_MARGIN_S: Final = 5.0
"""How much longer than it is given a worker may take to hand everything back, or to say that it is not ready."""
_EVER_S: Final = 1e9


class WorkerMember(AbstractMember):
    """See AbstractMember. ``spawn`` makes the actor, which Ray is to restart without limit.

    An actor whose process ends fails at once; a failed one that may still run is killed when it is started again.
    """

    def __init__(
        self,
        worker_id: str,
        spawn: Callable[[], Any],
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
        self.actor: Any = None
        """Ray's handle; None before the start and after the end."""
        self.incarnation: str | None = None
        """The last one known; a restart that has not been waited for does not change it."""
        self._spawn = spawn
        self._start_timeout_s = start_timeout_s
        self._restart_timeout_s = restart_timeout_s
        self._process: ProcessId | None = None
        self._killed: ProcessId | None = None
        self._watch: ProcessWatch | None = None
        self._hung = False
        """Its process may be alive and of no use: it is killed before it starts again."""
        self._grace_s = _EVER_S

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
                await answer(actor.retire.remote(self._grace_s))
                while self.status is WorkerStatus.DRAINING and not await answer(actor.join.remote(_JOIN_S)):
                    pass
            except exceptions.RayActorError:
                self._lose("its process has ended")
            except TimeoutError:
                self.fail("it does not answer")
        self._hold(0)

    def fail(self, reason: str) -> None:
        """See Member. Its process is taken for one that hangs."""
        self._hung = self._hung or self.status in AT_WORK
        super().fail(reason)

    def kill(self) -> None:
        """End its process for good, at once."""
        self._end_watch()
        actor, self.actor = self.actor, None
        if actor is not None:
            kill(actor, no_restart=True)

    # -- what AbstractMember asks for ------------------------------------------------------------------------

    async def _start(self) -> None:
        check_connected()
        self._grace_s = _EVER_S
        is_new = self.actor is None
        if is_new:
            self.actor = self._spawn()
        self._hung = True
        try:
            health = await (self._first_health() if is_new else self._next_health())
        except RuntimeStartError:
            self._hung = False
            raise
        except exceptions.RayActorError as error:
            self._hung = False
            if isinstance(error, exceptions.ActorDiedError):
                self.actor = None
            raise RuntimeStartError(f"{self.id}: it died while starting", actor=self.id) from error
        self._hung = False
        self._live(health)

    async def _stop(self) -> None:
        self._end_watch()
        if self._stopping is not None:
            await self._stop_now()
            self.kill()
        elif self._hung and self.actor is not None:
            self._killed = self._process
            kill(self.actor, no_restart=False)

    async def _check(self) -> WorkerHealth:
        process = self._process
        if not ray.is_initialized():
            self._lose("Ray has ended")
            return WorkerHealth(healthy=False, detail="Ray has ended")
        try:
            health: Health = await self.actor.health.remote()
        except exceptions.RayActorError:
            if self._process is process:
                self._lose("its process has ended")
            return WorkerHealth(healthy=False, detail="its process has ended")
        if self._process is not process or self.status not in AT_WORK:
            return WorkerHealth(healthy=False, detail="it has failed meanwhile")
        if health.process != process:
            self._lose("its process has been replaced")
            return WorkerHealth(healthy=False, detail="its process has been replaced")
        self.incarnation = health.incarnation
        self._hold(health.held)
        return WorkerHealth(healthy=True, detail=f"it holds {health.held} tasks")

    def _end_running(self) -> None:
        self._hold(0)

    # -- inside ----------------------------------------------------------------------------------------------

    async def _first_health(self) -> Health:
        """Wait until a new actor does its work."""
        timeout_s = self._start_timeout_s
        self._raise(await answer(self.actor.problem.remote(timeout_s), timeout_s + _MARGIN_S))
        health: Health = await answer(self.actor.health.remote())
        return health

    async def _next_health(self) -> Health:
        """Wait until Ray has made the process anew, and it does its work."""
        async with asyncio.timeout(self._restart_timeout_s):
            while True:
                check_connected()
                with contextlib.suppress(exceptions.ActorUnavailableError):
                    self._raise(await self.actor.problem.remote(self._restart_timeout_s / 2))
                    health: Health = await self.actor.health.remote()
                    if health.process != self._killed:
                        return health
                await asyncio.sleep(RESTART_PAUSE_S)

    def _raise(self, problem: str) -> None:
        if problem:
            raise RuntimeStartError(f"{self.id}: {problem}", actor=self.id)

    def _live(self, health: Health) -> None:
        self._killed = None
        self._process = health.process
        self.incarnation = health.incarnation
        if health.node == ray.get_runtime_context().get_node_id():
            self._watch = ProcessWatch(health.process, lambda: self._lose("its process has ended"))

    def _lose(self, reason: str) -> None:
        """Fail because the process has ended: there is nothing to kill, and Ray makes it anew."""
        self._end_watch()
        self._hung = False
        super().fail(reason)

    def _end_watch(self) -> None:
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.close()

    def _hold(self, tasks: int) -> None:
        if tasks != self.load:
            self._change_load(tasks - self.load)

    async def _stop_now(self) -> None:
        """Have the worker hand back what it still has, also if it has only just come back."""
        actor = self.actor
        if actor is not None and ray.is_initialized():
            with contextlib.suppress(exceptions.RayError, TimeoutError):
                async with asyncio.timeout(_MARGIN_S):
                    await actor.stop_now.remote()
                    while not await actor.join.remote(_JOIN_S):
                        pass
