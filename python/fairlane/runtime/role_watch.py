"""Watches dispatcher and controller: a process that does not answer is ended, and Ray makes it anew.

They hold nothing, so there is nothing to evict, and no limit to how often.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from typing import Any, Self

from ray import exceptions

from fairlane.clock import Rng, system_rng
from fairlane.config.workers import HealthConfig
from fairlane.errors import RuntimeStartError
from fairlane.runtime.ray_calls import answer, answer_when_back, check_connected

_log = logging.getLogger(__name__)


class RoleWatch:
    """Checks actors, which Ray restarts, while its context is entered, which it is once.

    ``end`` ends an actor's process. One that was restarted has ``start_timeout_s`` for its first answer.
    """

    def __init__(
        self,
        actors: Mapping[str, Any],
        health: HealthConfig,
        start_timeout_s: float,
        end: Callable[[Any], None],
        *,
        rng: Rng | None = None,
    ) -> None:
        """``actors``: Ray's handles, by name; read when the context is entered."""
        self._actors = actors
        self._health = health
        self._timeout_s = health.timeout_ms / 1000
        self._start_timeout_s = start_timeout_s
        self._end = end
        self._rng = rng or system_rng()
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        for name, actor in self._actors.items():
            task = asyncio.create_task(self._watch(name, actor), name=f"RoleWatch of {name}")
            task.add_done_callback(_ended)
            self._tasks.append(task)
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _watch(self, name: str, actor: Any) -> None:  # noqa: ANN401 - Ray's handle
        try:
            while True:
                await self._until_silent(actor)
                _log.warning(
                    "%s: no answer to %d health checks in a row; its process is ended, and Ray makes it anew",
                    name,
                    self._health.failure_threshold,
                )
                self._end(actor)
                await self._until_back(actor)
        except (exceptions.RayError, RuntimeStartError) as error:
            _log.warning("%s is watched no more: %s", name, error)

    async def _until_silent(self, actor: Any) -> None:  # noqa: ANN401 - Ray's handle
        interval_s, jitter = self._health.interval_ms / 1000, self._health.jitter
        failures = 0
        while failures < self._health.failure_threshold:
            await asyncio.sleep(interval_s * (1 + self._rng.uniform(-jitter, jitter)))
            check_connected()
            try:
                await answer(actor.health.remote(), self._timeout_s)
                failures = 0
            except TimeoutError:
                failures += 1
            except exceptions.ActorUnavailableError:
                failures = 0
                await self._until_back(actor)

    async def _until_back(self, actor: Any) -> None:  # noqa: ANN401 - Ray's handle
        with contextlib.suppress(TimeoutError):
            await answer_when_back(actor.health, self._start_timeout_s)


def _ended(task: asyncio.Task[None]) -> None:
    error = None if task.cancelled() else task.exception()
    if error is not None:
        _log.error("%s ended", task.get_name(), exc_info=error)
