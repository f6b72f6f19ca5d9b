"""One real server and one real Ray for the whole benchmark, and real actors for each scenario."""

import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from types import TracebackType
from typing import Self

import psutil

from bench.shared.platform import Session
from bench.shared.session import ScenarioError
from fairlane.config import RayConfig, SchedulerConfig, ServerConfig
from fairlane.lifecycle.client import Client
from fairlane.providers.base import Provider
from fairlane.runtime.dashboard import invitation
from fairlane.runtime.derived import of_client
from fairlane.runtime.platform import Platform
from fairlane.runtime.scheduler import Scheduler
from fairlane.store.connection import Endpoint
from fairlane.store.store import Store


class KillableScheduler(Scheduler):
    """A scheduler whose actors can be killed, with the operations that scenarios use."""

    cancel = of_client(Client.cancel)

    async def remove_tenant(self, tenant: str) -> bool:
        """See `Operator.remove_tenant`."""
        return await self.operator.remove_tenant(tenant)

    async def close_admission(self) -> None:
        """See `Operator.close_admission`."""
        await self.operator.close_admission()

    async def actor_pids(self) -> dict[str, int]:
        """See `SchedulerOperator.actor_pids`."""
        return await self.operator.actor_pids()

    async def kill_actor(self, actor: str, pid: int) -> None:
        """Send SIGKILL to an actor's process.

        Raises:
            ScenarioError: that process is no actor on this machine.
        """
        try:
            title = " ".join(psutil.Process(pid).cmdline())
        except psutil.Error as error:
            raise ScenarioError(f"{actor}: process {pid} is not on this machine: {error}") from None
        if not title.startswith("ray::"):
            raise ScenarioError(f"{actor}: process {pid} of this machine is no actor")
        os.kill(pid, signal.SIGKILL)


class RayPlatform:
    """Runs schedulers whose roles are Ray actors, and whose dispatchers use one strategy. An async context manager.

    With ``hold`` the last scheduler stays up until the next one is asked for or the platform ends, for people to
    look at. What a scheduler kept on the server is removed when it ends.
    """

    def __init__(
        self, *, redis: str | None, ray_address: str | None, strategy: str, dashboard: bool, hold: bool
    ) -> None:
        self._platform = Platform(ServerConfig(url=redis), RayConfig(address=ray_address, dashboard=dashboard))
        self._strategy = strategy
        self._hold = hold
        self._held = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._platform.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._held.aclose()
        finally:
            await self._platform.stop()

    @property
    def endpoint(self) -> Endpoint:
        """Where the server is."""
        return self._platform.endpoint

    @property
    def worker_url(self) -> str | None:
        """The server's URL for workers; None: they find it in their environment."""
        endpoint = self._platform.actor_endpoint
        return None if endpoint is None else endpoint.url

    def invitation(self) -> list[str]:
        """Say where the dashboard is and how to log in, if there is one."""
        return invitation(self._platform.ray)

    @asynccontextmanager
    async def scheduler(self, config: SchedulerConfig, provider: Provider) -> AsyncIterator[Session]:
        """Run a scheduler with fresh state."""
        await self._held.aclose()
        dispatcher = config.dispatcher.model_copy(update={"strategy": self._strategy})
        config = config.model_copy(update={"dispatcher": dispatcher})
        async with AsyncExitStack() as stack:
            store = await stack.enter_async_context(Store(self.endpoint, config.name))
            stack.push_async_callback(store.erase)
            session = await stack.enter_async_context(KillableScheduler(config, provider, platform=self._platform))
            yield session
            if self._hold:
                earlier, self._held = self._held, stack.pop_all()
                await earlier.aclose()
