"""The actors of one scheduler, as their driver sees them: started together, stopped in order, asked by name."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

import ray
from ray import exceptions

from fairlane.clock import SYSTEM_CLOCK
from fairlane.config import SchedulerConfig
from fairlane.errors import ConfigError, RuntimeStartError
from fairlane.providers.base import Provider
from fairlane.runtime.actors import (
    CONTROLLER,
    DISPATCHER,
    ControllerActor,
    DispatcherActor,
    Health,
    WorkerActor,
    worker_actor,
)
from fairlane.runtime.roles import StoreAddress

T = TypeVar("T")

_ANSWER_S: Final = 30.0
"""For a question that any living actor answers at once; an actor that is being restarted takes a few seconds."""
_JOIN_S: Final = 0.25
_RESTART_PAUSE_S: Final = 0.1
_MARGIN_S: Final = 5.0
"""How much longer than its grace time a worker may take to hand everything back."""


class Fleet:
    """Dispatcher, workers and controller of one scheduler, in a namespace of their own."""

    def __init__(self, config: SchedulerConfig, namespace: str, instance: str) -> None:
        self._config = config
        self._namespace = namespace
        self._instance = instance
        self._actors: dict[str, Any] = {}

    async def start(self, address: StoreAddress, provider: str | Provider) -> None:
        """Start all actors and wait until each does its work. After an error call `kill`.

        Raises:
            ConfigError: the provider cannot be sent to a worker.
            RuntimeStartError: the namespace is taken, or an actor says why it cannot work.
        """
        config = self._config
        self._create(ControllerActor, CONTROLLER, address, config.controller)
        for number in range(1, config.workers.count + 1):
            name = worker_actor(number)
            # With several schedulers of one name on one server, each one's workers are its own.
            worker_name = f"{name}@{self._instance}"
            self._create(WorkerActor, name, address, config.workers, provider, worker_name)
        self._create(DispatcherActor, DISPATCHER, address, config.dispatcher)
        timeout_s = config.ray.start_timeout_ms / 1000
        problems = await self._each(
            self._actors, lambda actor: _answer(actor.problem.remote(timeout_s), timeout_s + _MARGIN_S)
        )
        for name, problem in problems.items():
            if problem:
                shown = "it died while starting" if isinstance(problem, exceptions.RayError) else problem
                raise RuntimeStartError(f"{name}: {shown}", actor=name)

    async def stop(self) -> None:
        """Stop in order: nothing more is handed out, the workers finish within their grace time, then the rest."""
        for names in ([DISPATCHER], [name for name in self._actors if name.startswith("worker-")], [CONTROLLER]):
            actors = {name: self._actors[name] for name in names if name in self._actors}
            await self._each(actors, lambda actor: _answer(actor.stop.remote(), _ANSWER_S))
            await self._each(actors, self._join)

    async def stop_now(self) -> None:
        """Have a stop that is under way end at once: the workers hand back what they run."""
        await self._each(self._actors, lambda actor: _answer(actor.stop_now.remote(), _ANSWER_S))

    async def kill(self) -> None:
        """End all processes and return when their names are free again."""
        actors, self._actors = self._actors, {}
        for actor in actors.values():
            ray.kill(actor, no_restart=True)
        await self._each(actors, lambda actor: _answer(actor.stop.remote(), _ANSWER_S))

    async def health(self) -> dict[str, Health]:
        """Ask each actor; waits for one that is being restarted.

        Raises:
            RuntimeStartError: one does not answer.
        """
        answers = await self._each(self._actors, lambda actor: _answer_when_back(actor.health))
        healthy: dict[str, Health] = {}
        for name, answer in answers.items():
            if isinstance(answer, BaseException):
                raise RuntimeStartError(f"{name} does not answer", actor=name) from answer
            healthy[name] = answer
        return healthy

    def _create(self, kind: type, name: str, *arguments: object) -> None:
        try:
            self._actors[name] = (
                ray.remote(kind)
                .options(
                    name=name,
                    namespace=self._namespace,
                    num_cpus=0,
                    max_restarts=-1,
                    max_task_retries=0,
                )
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
                f"scheduler {self._config.name} already runs on this Ray: namespace {self._namespace} is taken",
                namespace=self._namespace,
            ) from None

    async def _join(self, actor: Any) -> None:  # noqa: ANN401 - Ray's handle
        until_s = SYSTEM_CLOCK.monotonic_s() + self._config.workers.grace_ms / 1000 + _MARGIN_S
        while SYSTEM_CLOCK.monotonic_s() < until_s:
            if await _answer(actor.join.remote(_JOIN_S), _ANSWER_S):
                return

    async def _each(
        self, actors: dict[str, Any], ask: Callable[[Any], Awaitable[T]]
    ) -> dict[str, T | exceptions.RayError | TimeoutError]:
        """Ask all at once; an actor that is gone or silent has its error for an answer."""

        async def one(actor: Any) -> T | exceptions.RayError | TimeoutError:  # noqa: ANN401 - Ray's handle
            try:
                return await ask(actor)
            except (exceptions.RayError, TimeoutError) as error:
                return error

        answers = await asyncio.gather(*(one(actor) for actor in actors.values()))
        return dict(zip(actors, answers, strict=True))


async def _answer(reference: Any, timeout_s: float) -> Any:  # noqa: ANN401 - Ray's reference, and what it holds
    async with asyncio.timeout(timeout_s):
        return await reference


async def _answer_when_back(method: Any) -> Any:  # noqa: ANN401 - Ray's method, and what it returns
    """Ask again while the actor is being restarted. Ray would do so too, but tells standard output each time."""
    async with asyncio.timeout(_ANSWER_S):
        while True:
            try:
                return await method.remote()
            except exceptions.ActorUnavailableError:
                await asyncio.sleep(_RESTART_PAUSE_S)
