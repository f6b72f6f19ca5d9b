"""The roles that actors run, each with its own connection to the store. Knows nothing of Ray."""

import asyncio
import os
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Protocol

from fairlane.config import REDIS_URL_VARIABLE, ControllerConfig, DispatcherConfig, WorkerConfig
from fairlane.control.controller import Controller
from fairlane.errors import ConfigError
from fairlane.lifecycle.dispatcher import Dispatcher
from fairlane.lifecycle.reaper import Reaper
from fairlane.lifecycle.worker import Worker
from fairlane.providers.base import Provider, load_provider
from fairlane.runtime.role_thread import Signals
from fairlane.store.connection import Endpoint
from fairlane.store.store import Store


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """How an actor finds the store. ``url`` None: it is a secret, and in the actor's environment."""

    name: str
    url: str | None
    call_timeout_ms: int
    connections: int

    def open(self) -> Store:
        """Return the store, not yet connected.

        Raises:
            ConfigError: the environment does not have the URL.
        """
        url = self.url or os.environ.get(REDIS_URL_VARIABLE)
        if not url:
            raise ConfigError(f"{REDIS_URL_VARIABLE} is not set on this machine of the Ray cluster")
        return Store(Endpoint(url, self.call_timeout_ms, self.connections), self.name)


class Role(Protocol):
    """What an actor does until it is told to stop."""

    async def run(self, store: Store, signals: Signals) -> None:
        """Set ``signals.ready`` once the work goes on; end after ``signals.stop``."""
        ...


@dataclass(frozen=True)
class DispatcherRole:
    """Hands tasks to workers."""

    config: DispatcherConfig

    async def run(self, store: Store, signals: Signals) -> None:
        """See Role."""
        dispatcher = Dispatcher(store, self.config)
        await _telling(dispatcher.ready, signals, dispatcher.run(signals.stop))


class WorkerRole:
    """Calls the provider. ``name`` is the same in all lives, so that registering again ends the one before."""

    def __init__(self, config: WorkerConfig, provider: str | Provider, name: str) -> None:
        self._config = config
        self._provider = provider
        self._name = name
        self._worker: Worker | None = None

    @property
    def incarnation(self) -> str | None:
        """The worker's current incarnation; None before the first."""
        return None if self._worker is None else self._worker.incarnation

    @property
    def held(self) -> int:
        """Tasks it holds."""
        return 0 if self._worker is None else self._worker.held

    def set_grace(self, grace_s: float) -> None:
        """Say how long the coming stop lets running calls go on."""
        if self._worker is not None:
            self._worker.set_grace(grace_s)

    async def run(self, store: Store, signals: Signals) -> None:
        """See Role. Raises ConfigError if the provider cannot be loaded."""
        worker = self._worker = Worker(store, load_provider(self._provider), self._config, name=self._name)
        await _telling(worker.ready, signals, worker.run(signals.stop, signals.stop_now))


@dataclass(frozen=True)
class ControllerRole:
    """Adapts the capacity, and takes back the tasks of lost workers."""

    config: ControllerConfig

    async def run(self, store: Store, signals: Signals) -> None:
        """See Role."""
        signals.ready.set()
        async with asyncio.TaskGroup() as group:
            group.create_task(Controller(store, self.config).run(signals.stop))
            group.create_task(Reaper(store).run(signals.stop))


async def _telling(ready: asyncio.Event, signals: Signals, work: Awaitable[None]) -> None:
    """Do ``work``, and pass on its first readiness."""

    async def tell() -> None:
        await ready.wait()
        signals.ready.set()

    telling = asyncio.create_task(tell())
    try:
        await work
    finally:
        telling.cancel()
