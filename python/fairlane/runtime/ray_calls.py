"""Questions to actors: none waits without an end, and none begins a Ray where one has ended."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

import ray
from ray import exceptions

from fairlane.errors import RuntimeStartError

T = TypeVar("T")

ANSWER_S: Final = 30.0
"""For a question that any living actor answers at once; an actor that is being restarted takes a few seconds."""
RESTART_PAUSE_S: Final = 0.1
"""Between two questions to an actor that is being restarted."""
DEAD_S: Final = 10.0
"""So long after it was killed Ray must know of an actor's end, at most."""


def check_connected() -> None:
    """Look whether Ray is there still: some of its functions would start another one.

    Raises:
        RuntimeStartError: it is not.
    """
    if not ray.is_initialized():
        raise RuntimeStartError("Ray: this process is not connected to it any more; it was ended, its actors with it")


def kill(actor: Any, *, no_restart: bool) -> None:  # noqa: ANN401 - Ray's handle
    """End an actor's process; it has ended already if its Ray has."""
    if ray.is_initialized():
        with contextlib.suppress(exceptions.ActorHandleNotFoundError):  # the actor of an earlier Ray
            ray.kill(actor, no_restart=no_restart)


async def answer(reference: Any, timeout_s: float = ANSWER_S) -> Any:  # noqa: ANN401 - Ray's reference, what it holds
    """Wait for an answer. Raises TimeoutError, or one of Ray's errors."""
    async with asyncio.timeout(timeout_s):
        return await reference


async def answer_when_back(method: Any, timeout_s: float) -> Any:  # noqa: ANN401 - Ray's method, what it returns
    """Ask again while the actor is being restarted. Ray would do so too, but tells standard output each time.

    Raises:
        RuntimeStartError: Ray has ended.
        TimeoutError, or another of Ray's errors.
    """
    async with asyncio.timeout(timeout_s):
        while True:
            check_connected()
            try:
                return await method.remote()
            except exceptions.ActorUnavailableError:
                await asyncio.sleep(RESTART_PAUSE_S)


async def until_dead(actor: Any) -> None:  # noqa: ANN401 - Ray's handle
    """Return when Ray knows that a killed actor has ended, and its name is free. Raises TimeoutError."""
    async with asyncio.timeout(DEAD_S):
        while ray.is_initialized():
            try:
                await actor.stop_now.remote()
            except exceptions.ActorUnavailableError:
                pass
            except exceptions.RayActorError:
                return
            await asyncio.sleep(RESTART_PAUSE_S)


async def ask_each(
    actors: dict[str, Any], ask: Callable[[Any], Awaitable[T]]
) -> dict[str, T | exceptions.RayError | TimeoutError]:
    """Ask all at once; an actor that is gone or silent has its error for an answer."""

    async def one(actor: Any) -> T | exceptions.RayError | TimeoutError:  # noqa: ANN401 - Ray's handle
        if not ray.is_initialized():
            return exceptions.RayError("this process is not connected to Ray any more")
        try:
            return await ask(actor)
        except (exceptions.RayError, TimeoutError) as error:
            return error

    answers = await asyncio.gather(*(one(actor) for actor in actors.values()))
    return dict(zip(actors, answers, strict=True))
