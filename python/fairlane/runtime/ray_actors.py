"""Making, asking and ending Ray actors. No question waits without an end, and none starts a Ray where one has ended."""

import asyncio
import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Self

import ray
from ray import exceptions

from fairlane.embedded.processes import ProcessId, identify
from fairlane.errors import ConfigError, RuntimeStartError
from fairlane.runtime.process_watch import ProcessWatch

ANSWER_S: Final = 30.0
"""For a question that any living actor answers at once; an actor that is being restarted takes a few seconds."""
RESTART_PAUSE_S: Final = 0.1
"""Between two looks at an actor that is being restarted or killed."""
_DEAD_S: Final = 10.0
"""The longest time that Ray takes to notice the end of an actor that it has killed."""


@dataclass(frozen=True, slots=True)
class ActorProcess:
    """The process of an actor, and Ray's name of the machine that it runs on."""

    process: ProcessId
    node: str

    @classmethod
    def current(cls) -> Self:
        """Return the process that calls this."""
        process = identify(os.getpid()) or ProcessId(os.getpid(), "")
        return cls(process, ray.get_runtime_context().get_node_id())

    @property
    def pid(self) -> int:
        """The process's id on its machine."""
        return self.process.pid

    def watch(self, ended: Callable[[], None]) -> ProcessWatch | None:
        """Watch for its end; None if it runs on another machine."""
        if self.node != ray.get_runtime_context().get_node_id():
            return None
        return ProcessWatch(self.process, ended)


def make_actor(kind: type, name: str, namespace: str, *arguments: object) -> Any:  # noqa: ANN401 - Ray's handle
    """Have Ray make an actor that it does not restart, and return its handle at once.

    Raises:
        ConfigError: the provider among the arguments cannot be sent to it.
        RuntimeStartError: the namespace has an actor of this name.
    """
    try:
        return (
            ray.remote(kind)
            .options(name=name, namespace=namespace, num_cpus=0, max_restarts=0, max_task_retries=0)
            .remote(name, *arguments)
        )
    except TypeError as error:
        raise ConfigError(
            f"{name}: the provider cannot be pickled ({error}); give it as package.module:attribute",
            field="provider",
        ) from error
    except ValueError as error:
        if "already taken" not in str(error):
            raise
        raise RuntimeStartError(
            f"namespace {namespace} has an actor {name}: a scheduler of this name already runs on this Ray; "
            "stop it, or give this one another ray.namespace",
            namespace=namespace,
        ) from None


def check_connected() -> None:
    """Check that Ray is connected: some of its functions would start another Ray.

    Raises:
        RuntimeStartError: it is not.
    """
    if not ray.is_initialized():
        raise RuntimeStartError("Ray: this process is not connected to it any more; it was ended, its actors with it")


async def answer(reference: Any, timeout_s: float = ANSWER_S) -> Any:  # noqa: ANN401 - Ray's reference, its value
    """Wait for an answer. Raises TimeoutError, or one of Ray's errors."""
    async with asyncio.timeout(timeout_s):
        return await reference


def kill(actor: Any) -> None:  # noqa: ANN401 - Ray's handle
    """End an actor's process; it has ended already if its Ray has."""
    if ray.is_initialized():
        with contextlib.suppress(exceptions.ActorHandleNotFoundError):  # the actor of an earlier Ray
            ray.kill(actor, no_restart=True)


async def until_dead(actor: Any) -> None:  # noqa: ANN401 - Ray's handle
    """Return when Ray knows that a killed actor has ended, and its name is free. Raises TimeoutError."""
    async with asyncio.timeout(_DEAD_S):
        while ray.is_initialized():
            try:
                await actor.stop_now.remote()
            except exceptions.ActorUnavailableError:
                pass
            except exceptions.RayActorError:
                return
            await asyncio.sleep(RESTART_PAUSE_S)
