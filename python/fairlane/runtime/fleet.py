"""The actors of one scheduler, as their driver sees them: started together, supervised, stopped in order."""

import asyncio
import contextlib
import logging
from typing import Any, Final

import ray
from ray import exceptions

from fairlane.clock import SYSTEM_CLOCK
from fairlane.config import SchedulerConfig
from fairlane.errors import FairlaneError, RuntimeStartError
from fairlane.providers.base import Provider
from fairlane.runtime.actor_maker import FOR_EVER, ActorMaker
from fairlane.runtime.actors import (
    CONTROLLER,
    DISPATCHER,
    ControllerActor,
    DispatcherActor,
    Health,
    WorkerActor,
    worker_actor,
)
from fairlane.runtime.ray_calls import ANSWER_S, RESTART_PAUSE_S, answer, ask_each, check_connected, kill, until_dead
from fairlane.runtime.role_watch import RoleWatch
from fairlane.runtime.roles import StoreAddress
from fairlane.runtime.supervision import Supervision
from fairlane.runtime.worker_member import WorkerMember
from fairlane.store.store import Store
from fairlane.workers.errors import WorkerError, WorkerErrorCode
from fairlane.workers.members.group import WorkerGroup

_log = logging.getLogger(__name__)
_JOIN_S: Final = 0.25
_MARGIN_S: Final = 5.0
"""How much longer than it is given an actor may take."""
_SILENT_S: Final = 5.0
"""An actor that is told to stop and answers nothing for so long hangs."""
_PATIENCE: Final = 0.8
"""The part of its time that a restarted worker may take, so that it is known why it failed."""


class Fleet:
    """Dispatcher, workers and controller of one scheduler, in a namespace of their own."""

    def __init__(
        self,
        config: SchedulerConfig,
        namespace: str,
        instance: str,
        store: Store,
        address: StoreAddress,
        provider: str | Provider,
    ) -> None:
        """With several schedulers of one name on one server, each ``instance``'s workers are its own."""
        self._config = config
        self._maker = ActorMaker(config.name, namespace, address)
        self._instance = instance
        self._provider = provider
        self._roles: dict[str, Any] = {}
        """Ray's handles of dispatcher and controller."""
        self._workers: dict[str, WorkerMember] = {}
        """All that have a process, or are being started."""
        self._numbers = 0
        self._pool: WorkerGroup[WorkerMember] = WorkerGroup()
        """Those that are supervised."""
        self._supervision = Supervision(self._pool, store, config.health, config.supervisor)
        self._role_watch = RoleWatch(
            self._roles,
            config.health,
            config.supervisor.start_timeout_ms / 1000,
            lambda actor: kill(actor, no_restart=False),
        )

    async def start(self) -> None:
        """Start all actors, wait until each does its work, and begin to supervise them. After an error `kill`.

        Raises:
            ConfigError: the provider cannot be sent to a worker.
            RuntimeStartError: the namespace is taken, or an actor says why it cannot work.
        """
        config = self._config
        self._begin_role(ControllerActor, CONTROLLER, config.controller)
        workers = [self._next_worker() for _ in range(config.workers.count)]
        starts = [asyncio.create_task(self._start_worker(worker)) for worker in workers]
        try:
            await asyncio.sleep(0)  # they are created before the dispatcher
            self._begin_role(DispatcherActor, DISPATCHER, config.dispatcher)
            await self._start_roles()
            for start in starts:
                await start
        finally:
            for start in starts:
                start.cancel()
            await asyncio.gather(*starts, return_exceptions=True)
        for worker in workers:
            self._pool.add(worker)
        await self._supervision.__aenter__()
        await self._role_watch.__aenter__()

    async def stop(self) -> None:
        """Stop in order: nothing more is handed out, the workers finish within their grace time, then the rest.

        If Ray has ended, so have they.
        """
        await self._role_watch.__aexit__()
        await self._supervision.__aexit__(None, None, None)
        if not ray.is_initialized():
            _log.warning("scheduler %s: Ray was ended before it; running tasks are repeated", self._config.name)
            return
        await self._stop_role(DISPATCHER)
        grace_s = self._config.workers.grace_ms / 1000
        await asyncio.gather(*(worker.stop(grace_s) for worker in self._workers.values()), return_exceptions=True)
        await self._stop_role(CONTROLLER)

    async def stop_now(self) -> None:
        """Have a stop that is under way end at once: the workers hand back what they run."""
        await ask_each(self._actors(), lambda actor: answer(actor.stop_now.remote(), _SILENT_S))

    async def kill(self) -> None:
        """End all processes and return when their names are free again."""
        roles, workers = dict(self._roles), list(self._workers.values())
        for actor in roles.values():
            kill(actor, no_restart=True)
        for worker in workers:
            worker.kill()
        self._roles.clear()
        self._workers.clear()
        ends = [*(until_dead(actor) for actor in roles.values()), *(worker.ended() for worker in workers)]
        await asyncio.gather(*ends, return_exceptions=True)

    async def health(self) -> dict[str, Health]:
        """Ask each actor; waits for one that is being restarted.

        Raises:
            RuntimeStartError: one does not answer, or Ray has ended.
        """
        check_connected()
        names = [*self._roles, *(name for name, worker in self._workers.items() if not worker.at_rest)]
        answers = await asyncio.gather(*(self._health(name) for name in names))
        return {name: health for name, health in zip(names, answers, strict=True) if health is not None}

    async def add_worker(self) -> str:
        """Start one more worker, and return its name, which no other has had.

        Raises:
            RuntimeStartError: it says why it cannot work, or Ray has ended.
        """
        check_connected()
        worker = self._next_worker()
        try:
            await self._start_worker(worker)
        except BaseException:
            worker.kill()
            self._workers.pop(worker.id, None)
            await self._supervision.take_out(worker)
            raise
        self._pool.add(worker)
        return worker.id

    async def remove_worker(self, name: str, grace_s: float | None) -> None:
        """Let a worker finish what it runs within the grace time, hand back the rest, and end.

        Raises:
            WorkerError: worker_not_found.
        """
        if name not in self._pool:
            known = ", ".join(worker.id for worker in self._pool) or "none"
            raise WorkerError(
                WorkerErrorCode.WORKER_NOT_FOUND,
                f"there is no worker {ascii(name)[:60]}; there are: {known}",
                worker=name,
            )
        worker = self._pool.get(name)
        try:
            await self._pool.remove(name, self._config.workers.grace_ms / 1000 if grace_s is None else grace_s)
        finally:
            if name not in self._pool:
                worker.kill()
                self._workers.pop(name, None)
                await self._supervision.take_out(worker)

    def _next_worker(self) -> WorkerMember:
        config, self._numbers = self._config, self._numbers + 1
        name = worker_actor(self._numbers)
        worker_name = f"{name}@{self._instance}"
        arguments = (config.workers, self._provider, worker_name)
        worker = self._workers[name] = WorkerMember(
            name,
            worker_name,
            lambda earlier: self._maker.make(WorkerActor, name, *arguments, earlier, restarts=0),
            slots=config.workers.slots,
            start_timeout_s=config.ray.start_timeout_ms / 1000,
            restart_timeout_s=config.supervisor.start_timeout_ms / 1000 * _PATIENCE,
        )
        return worker

    def _begin_role(self, kind: type, name: str, config: object) -> None:
        self._roles[name] = self._maker.make(kind, name, config, restarts=FOR_EVER)

    async def _start_worker(self, worker: WorkerMember) -> None:
        try:
            await worker.start()
        except WorkerError as error:
            if isinstance(error.cause, FairlaneError):
                raise error.cause from None
            raise RuntimeStartError(error.message, actor=worker.id) from error

    async def _start_roles(self) -> None:
        timeout_s = self._config.ray.start_timeout_ms / 1000
        problems = await ask_each(
            self._roles, lambda actor: answer(actor.problem.remote(timeout_s), timeout_s + _MARGIN_S)
        )
        for name, problem in problems.items():
            if problem:
                shown = "it died while starting" if isinstance(problem, exceptions.RayError) else problem
                raise RuntimeStartError(f"{name}: {shown}", actor=name)

    async def _stop_role(self, name: str) -> None:
        """Have it finish and end; one that hangs is killed, for it holds nothing."""
        if not ray.is_initialized():
            return
        actor = self._roles[name]
        until_s = SYSTEM_CLOCK.monotonic_s() + self._config.workers.grace_ms / 1000 + _MARGIN_S
        try:
            await answer(actor.stop.remote(), _SILENT_S)
            while SYSTEM_CLOCK.monotonic_s() < until_s:
                if await answer(actor.join.remote(_JOIN_S), _SILENT_S):
                    return
        except exceptions.RayError:
            return
        except TimeoutError:
            _log.warning("%s: no answer within %g s while it was stopped; it is killed", name, _SILENT_S)
            kill(actor, no_restart=True)

    async def _health(self, name: str) -> Health | None:
        """Ask one; None if it was removed meanwhile, or ended for good."""
        try:
            async with asyncio.timeout(ANSWER_S):
                while name in self._roles or (name in self._workers and not self._workers[name].at_rest):
                    check_connected()
                    actor = self._actors().get(name)
                    if actor is not None:
                        with contextlib.suppress(exceptions.RayActorError):
                            health: Health = await actor.health.remote()
                            return health
                    await asyncio.sleep(RESTART_PAUSE_S)
        except TimeoutError as error:
            raise RuntimeStartError(f"{name} does not answer", actor=name) from error
        return None

    def _actors(self) -> dict[str, Any]:
        """All of Ray's handles, by name."""
        workers = {worker.id: worker.actor for worker in self._workers.values() if worker.actor is not None}
        return self._roles | workers
