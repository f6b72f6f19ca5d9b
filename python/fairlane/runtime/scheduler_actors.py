"""The actors of one scheduler, as its driver sees them: started together, supervised, stopped in order.

This file says which roles there are, and gives each its class, its configuration and its limits.
"""

import asyncio
import logging
from collections.abc import Iterable
from contextlib import AsyncExitStack
from functools import partial
from typing import Final

import ray
from ray import exceptions

from fairlane.config import ControllerConfig, SchedulerConfig
from fairlane.control.controller import Controller
from fairlane.errors import FairlaneError, RuntimeStartError
from fairlane.lifecycle.dispatcher import Dispatcher
from fairlane.lifecycle.reaper import Reaper
from fairlane.lifecycle.worker import Worker
from fairlane.providers.base import Provider
from fairlane.run import CombinedRole, Role
from fairlane.runtime.actor_member import ActorMember
from fairlane.runtime.ray_actors import ANSWER_S, RESTART_PAUSE_S, ActorProcess, answer, check_connected, make_actor
from fairlane.runtime.role_actor import RoleActor, RoleMaker, StoreAddress
from fairlane.runtime.supervision import Supervision
from fairlane.store.store import Store
from fairlane.workers.errors import WorkerError, WorkerErrorCode
from fairlane.workers.members.group import WorkerGroup
from fairlane.workers.members.member import WorkerInfo

DISPATCHER: Final = "dispatcher"
CONTROLLER: Final = "controller"
WORKER_KIND: Final = "scheduler"
"""The kind of a scheduler's workers in figures; dispatcher and controller are kinds of their own."""
_WORKER_SILENT_S: Final = 10.0
_SILENT_S: Final = 5.0
"""How long an actor that was asked to stop may stay silent: less for dispatcher and controller, which hold nothing."""
_PATIENCE: Final = 0.8
"""The part of its time that a restarted actor may take to get ready, so that its reason arrives within that time."""
_UNLIMITED: Final = 1_000_000
"""Restarts of dispatcher and controller within the window: more than can happen."""

_log = logging.getLogger(__name__)


class SchedulerActors:
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
        """``instance`` distinguishes the workers of several schedulers of one name on one server."""
        self._config = config
        self._namespace = namespace
        self._instance = instance
        self._address = address
        self._provider = provider
        self._members: dict[str, ActorMember] = {}
        """All that have a process, or are being started."""
        self._numbers = 0
        self._roles: WorkerGroup[ActorMember] = WorkerGroup()
        self._workers: WorkerGroup[ActorMember] = WorkerGroup()
        """The members that are supervised."""
        unlimited = config.supervisor.model_copy(update={"max_restarts": _UNLIMITED})
        self._role_supervision = Supervision(self._roles, store, config.health, unlimited)
        self._worker_supervision = Supervision(self._workers, store, config.health, config.supervisor)
        self._supervising = AsyncExitStack()

    async def start(self) -> None:
        """Start all actors, wait until each does its work, and begin to supervise them. After an error call `kill`.

        Raises:
            ConfigError: the provider cannot be sent to a worker.
            RuntimeStartError: the namespace is taken, or an actor says why it cannot work.
        """
        config = self._config
        controller = self._new_role(CONTROLLER, partial(_controller, config=config.controller))
        workers = [self._new_worker() for _ in range(config.workers.count)]
        dispatcher = self._new_role(DISPATCHER, partial(Dispatcher, config=config.dispatcher))
        await self._start_all([controller, *workers, dispatcher])
        for role in (dispatcher, controller):
            self._roles.add(role)
        for worker in workers:
            self._workers.add(worker)
        await self._supervising.enter_async_context(self._role_supervision)
        await self._supervising.enter_async_context(self._worker_supervision)

    async def stop(self) -> None:
        """Stop in order: the dispatcher, then the workers within their grace time, then the controller.

        If Ray has ended, so have they.
        """
        await self._supervising.aclose()
        if not ray.is_initialized():
            _log.warning("scheduler %s: Ray was ended before it; running tasks are repeated", self._config.name)
            return
        grace_s = self._config.workers.grace_ms / 1000
        roles = {role.id: role for role in self._roles}
        workers = [member for name, member in self._members.items() if name not in roles]
        for stage in ([roles[DISPATCHER]], workers, [roles[CONTROLLER]]):
            await asyncio.gather(*(member.stop(grace_s) for member in stage), return_exceptions=True)

    async def stop_now(self) -> None:
        """Have a stop that is under way end at once: the workers hand back what they run."""
        if ray.is_initialized():
            actors = [member.actor for member in self._members.values() if member.actor is not None]
            requests = (answer(actor.stop_now.remote(), _SILENT_S) for actor in actors)
            await asyncio.gather(*requests, return_exceptions=True)

    async def kill(self) -> None:
        """End all processes and return when their names are free again."""
        members = list(self._members.values())
        self._members.clear()
        for member in members:
            member.kill()
        await asyncio.gather(*(member.ended() for member in members), return_exceptions=True)

    async def pids(self) -> dict[str, int]:
        """Return the process id of each actor; waits for those that are being restarted.

        Raises:
            RuntimeStartError: one does not answer, or Ray has ended.
        """
        check_connected()
        members = [member for member in self._members.values() if not member.at_rest]
        pids = await asyncio.gather(*(self._pid(member) for member in members))
        return {member.id: pid for member, pid in zip(members, pids, strict=True) if pid is not None}

    async def add_worker(self) -> str:
        """Start one more worker, and return its name, which no other has had.

        Raises:
            RuntimeStartError: it says why it cannot work, or Ray has ended.
        """
        check_connected()
        worker = self._new_worker()
        try:
            await _start(worker)
        except BaseException:
            await self._forget(worker)
            raise
        self._workers.add(worker)
        return worker.id

    async def remove_worker(self, name: str, grace_s: float | None) -> None:
        """Let a worker finish what it runs within the grace time, hand back the rest, and end.

        Raises:
            WorkerError: worker_not_found.
        """
        if name not in self._workers:
            known = ", ".join(worker.id for worker in self._workers) or "none"
            raise WorkerError(
                WorkerErrorCode.WORKER_NOT_FOUND,
                f"there is no worker {ascii(name)[:60]}; there are: {known}",
                worker=name,
            )
        worker = self._workers.get(name)
        try:
            await self._workers.remove(name, self._config.workers.grace_ms / 1000 if grace_s is None else grace_s)
        finally:
            if name not in self._workers:
                await self._forget(worker)

    async def _forget(self, worker: ActorMember) -> None:
        worker.kill()
        self._members.pop(worker.id, None)
        await self._worker_supervision.evict(worker)

    # -- making members --------------------------------------------------------------------------------------

    def _new_role(self, name: str, make: RoleMaker) -> ActorMember:
        return self._new_member(WorkerInfo.of(id=name, kind=name, capacity=1), make, silent_s=_SILENT_S)

    def _new_worker(self) -> ActorMember:
        config, self._numbers = self._config.workers, self._numbers + 1
        name = f"worker-{self._numbers}"
        store_name = f"{name}@{self._instance}"
        make = partial(Worker, provider=self._provider, config=config, name=store_name)
        info = WorkerInfo.of(id=name, kind=WORKER_KIND, capacity=config.slots)
        return self._new_member(info, make, store_name=store_name, silent_s=_WORKER_SILENT_S)

    def _new_member(
        self, info: WorkerInfo, make: RoleMaker, *, silent_s: float, store_name: str | None = None
    ) -> ActorMember:
        member = self._members[info.id] = ActorMember(
            info,
            partial(make_actor, RoleActor, info.id, self._namespace, self._address, make),
            store_name=store_name,
            start_timeout_s=self._config.ray.start_timeout_ms / 1000,
            restart_timeout_s=self._config.supervisor.start_timeout_ms / 1000 * _PATIENCE,
            silent_s=silent_s,
        )
        return member

    async def _start_all(self, members: Iterable[ActorMember]) -> None:
        """Start members together. Their actors are made in this order; after a failure no further actor is made."""
        starts: list[asyncio.Task[None]] = []
        try:
            for member in members:
                start = asyncio.create_task(_start(member))
                starts.append(start)
                await member.spawned.wait()
                if member.actor is None:
                    await start
            await asyncio.gather(*starts)
        finally:
            for start in starts:
                start.cancel()
            await asyncio.gather(*starts, return_exceptions=True)

    async def _pid(self, member: ActorMember) -> int | None:
        """Ask one; None if it is removed meanwhile, or ended for good."""
        try:
            async with asyncio.timeout(ANSWER_S):
                while member.id in self._members and not member.at_rest:
                    check_connected()
                    if member.actor is not None:
                        try:
                            process: ActorProcess = await member.actor.process.remote()
                        except exceptions.RayActorError:
                            pass
                        else:
                            return process.pid
                    await asyncio.sleep(RESTART_PAUSE_S)
        except TimeoutError as error:
            raise RuntimeStartError(f"{member.id} does not answer", actor=member.id) from error
        return None


async def _start(member: ActorMember) -> None:
    """Start a member; raise why it did not start instead of the group's error about it."""
    try:
        await member.start()
    except WorkerError as error:
        if isinstance(error.cause, FairlaneError):
            raise error.cause from None
        raise RuntimeStartError(error.message, actor=member.id) from error


def _controller(store: Store, config: ControllerConfig) -> Role:
    return CombinedRole(Controller(store, config), Reaper(store))
