"""The actors: each runs one role in its process, and holds nothing that is not in the store.

Ray restarts dispatcher and controller when their process ends, by making them anew; so the work begins in the
constructor, since nobody else would begin it then. A class with an asynchronous method would become an asynchronous
actor, which cannot handle SIGTERM: these have none.
"""

import os
from dataclasses import dataclass, replace
from typing import Final

import ray

from fairlane.config import ControllerConfig, DispatcherConfig, WorkerConfig
from fairlane.embedded.processes import ProcessId, identify
from fairlane.providers.base import Provider
from fairlane.runtime.role_thread import RoleThread, Signals
from fairlane.runtime.roles import ControllerRole, DispatcherRole, Role, StoreAddress, WorkerRole

DISPATCHER: Final = "dispatcher"
CONTROLLER: Final = "controller"


def worker_actor(number: int) -> str:
    """Name the actor that is worker ``number``, counted from 1."""
    return f"worker-{number}"


@dataclass(frozen=True, slots=True)
class Health:
    """An actor that answers. ``restarted``: an earlier process of this name has ended."""

    name: str
    process: ProcessId
    node: str
    """Ray's name of the machine it is on."""
    restarted: bool
    incarnation: str | None = None
    """Of a worker: the life that the store knows it by."""
    held: int = 0
    """Of a worker: the tasks it holds."""

    @property
    def pid(self) -> int:
        """The process's id on its machine."""
        return self.process.pid


class RoleActor:
    """What every actor can be asked."""

    def __init__(self, name: str, address: StoreAddress, role: Role, earlier: int = 0) -> None:
        """``earlier``: how many actors of this name there were before this one."""
        context = ray.get_runtime_context()
        restarted = earlier > 0 or bool(context.was_current_actor_reconstructed)
        process = identify(os.getpid()) or ProcessId(os.getpid(), "")
        self._health = Health(name, process, context.get_node_id(), restarted)

        async def work(signals: Signals) -> None:
            async with address.open() as store:
                if not restarted:  # later the store may be away for a while, which the roles wait out
                    await store.check()
                await role.run(store, signals)

        self._role = RoleThread(name, work)
        self._role.handle_sigterm()

    def problem(self, timeout_s: float) -> str:
        """Wait until the role does its work, and return an empty string; or why it does not."""
        return self._role.problem(timeout_s)

    def health(self) -> Health:
        """Return how it is; an actor whose role has ended does not answer, since its process has."""
        return self._health

    def stop(self) -> None:
        """Ask the role to finish and end; returns at once."""
        self._role.stop()

    def stop_now(self) -> None:
        """Ask the role to end without finishing; returns at once."""
        self._role.stop_now()

    def join(self, timeout_s: float) -> bool:
        """Wait for the role's end; return whether it has ended."""
        return self._role.join(timeout_s)


class DispatcherActor(RoleActor):
    """Runs the dispatcher."""

    def __init__(self, name: str, address: StoreAddress, config: DispatcherConfig) -> None:
        super().__init__(name, address, DispatcherRole(config))


class WorkerActor(RoleActor):
    """Runs a worker, known to the store as ``worker_name``."""

    def __init__(
        self,
        name: str,
        address: StoreAddress,
        config: WorkerConfig,
        provider: str | Provider,
        worker_name: str,
        earlier: int,
    ) -> None:
        self._worker = WorkerRole(config, provider, worker_name)
        super().__init__(name, address, self._worker, earlier)

    def health(self) -> Health:
        """See RoleActor; with what it holds, as whom."""
        return replace(self._health, incarnation=self._worker.incarnation, held=self._worker.held)

    def retire(self, grace_s: float) -> None:
        """Ask the worker to finish what it runs within the grace time, hand back the rest and end; returns at once."""
        self._worker.set_grace(grace_s)
        self.stop()


class ControllerActor(RoleActor):
    """Runs the controller and the reaper."""

    def __init__(self, name: str, address: StoreAddress, config: ControllerConfig) -> None:
        super().__init__(name, address, ControllerRole(config))
