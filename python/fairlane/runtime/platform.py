"""What schedulers run on: a server, Ray, and the guard that ends both if this process is killed."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from fairlane.config import REDIS_URL_VARIABLE, RayConfig, ServerConfig
from fairlane.embedded.guard import Guard
from fairlane.embedded.server import EmbeddedServer
from fairlane.errors import ConfigError, RuntimeStartError
from fairlane.runtime import process_thread
from fairlane.runtime.dashboard import check_installed
from fairlane.runtime.ray_session import RaySession
from fairlane.runtime.server_supervision import Observer, ServerSupervision
from fairlane.store.connection import Endpoint
from fairlane.store.store import Store

_NO_NAME = "platform"
"""In whose keys the server is checked if no scheduler's name is given."""


class Platform:
    """A server and Ray, shared by any number of schedulers with different names. An async context manager.

    ``name``: the scheduler in whose keys the server is checked; a server's user may be limited to these keys.
    """

    def __init__(
        self, server: ServerConfig | None = None, ray: RayConfig | None = None, *, name: str = _NO_NAME
    ) -> None:
        self._name = name
        self._server_config = server or ServerConfig()
        self._ray_config = ray or RayConfig()
        self._stack: AsyncExitStack | None = None
        self._endpoint: Endpoint | None = None
        self._supervision: ServerSupervision | None = None
        self.server: EmbeddedServer | None = None
        """The embedded server; None before the start, and if a URL names another server."""
        self.ray: RaySession | None = None

    @property
    def endpoint(self) -> Endpoint:
        """The address of the server. Raises RuntimeStartError before the start."""
        if self._endpoint is None:
            raise RuntimeStartError("the platform is not started: use it as an async context manager, or await start()")
        return self._endpoint

    @property
    def actor_endpoint(self) -> Endpoint | None:
        """The server's address for actors; None if the URL holds a secret: they read it from their own environment.

        Raises:
            ConfigError: the URL holds a secret, and the actors' environment does not have it.
        """
        url = self.endpoint.url
        if not _holds_secret(url):
            return self.endpoint
        if self.ray is not None and self.ray.is_private:
            if url != self.ray.exported.get(REDIS_URL_VARIABLE):
                raise ConfigError(
                    "server.url holds a password, which Fairlane does not send to Ray, and this process's private Ray "
                    "already runs without that URL or with another: one private Ray serves one URL with a password; "
                    "use a separate process for each",
                    field="server.url",
                )
        elif url != os.environ.get(REDIS_URL_VARIABLE):
            raise ConfigError(
                "server.url holds a password, which Fairlane does not send to Ray: "
                f"set {REDIS_URL_VARIABLE} here and on every machine of the Ray cluster instead",
                field="server.url",
            )
        return None

    async def start(self) -> None:
        """Start the server, check that it can be used, then start Ray. After an error nothing is left running.

        Raises:
            ConfigError, EmbeddedServerError, StoreUnavailable, StoreUnsuitable, RuntimeStartError
        """
        if self._ray_config.address is not None and self._server_config.url is None:
            raise ConfigError(
                f"ray.address = {self._ray_config.address}: workers on other machines cannot reach an embedded "
                "server; name a server with server.url",
                field="server.url",
            )
        if self._ray_config.dashboard and self._ray_config.address is None:
            check_installed("ray.dashboard = true")
        async with AsyncExitStack() as stack:
            guard = await self._start_guard(stack)
            await self._start_server(stack, guard)
            url = self.endpoint.url
            exported = url if _holds_secret(url) else os.environ.get(REDIS_URL_VARIABLE)
            environment = {} if exported is None else {REDIS_URL_VARIABLE: exported}
            self.ray = RaySession(self._ray_config, guard, environment)
            stack.push_async_callback(self.ray.stop)
            await self.ray.start()
            _ = self.actor_endpoint
            self._stack = stack.pop_all()

    async def stop(self) -> None:
        """Stop Ray, then the server. May be called again."""
        stack, self._stack = self._stack, None
        if stack is not None:
            await stack.aclose()
        self._endpoint = self._supervision = self.server = self.ray = None

    @contextmanager
    def observing_server(self, observer: Observer) -> Iterator[None]:
        """While the block runs, call ``observer`` after each restart of the embedded server that ended by itself."""
        observers = [] if self._supervision is None else self._supervision.observers
        observers.append(observer)
        try:
            yield
        finally:
            observers.remove(observer)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def _start_guard(self, stack: AsyncExitStack) -> Guard:
        started: list[Guard] = []

        def start() -> None:
            started.append(Guard.start())

        def close() -> None:
            if self.ray is not None and self.ray.is_given_up:
                return  # the guard watches until this process ends
            for guard in started:
                guard.close()

        stack.push_async_callback(process_thread.call, close)  # a cancelled start may still have started a guard
        await process_thread.call(start)
        return started[0]

    async def _start_server(self, stack: AsyncExitStack, guard: Guard) -> None:
        config = self._server_config
        url = config.url
        if url is None:
            server = self.server = EmbeddedServer(config.data_dir, binary=config.binary, guard=guard)
            stack.push_async_callback(process_thread.call, server.stop)
            url = (await process_thread.call(server.start)).url
            self._supervision = ServerSupervision(server)
            watching = asyncio.create_task(self._supervision.run())
            stack.push_async_callback(_cancelled, watching)
        self._endpoint = Endpoint(url, config.call_timeout_ms, config.connections).checked()
        async with Store(self._endpoint, self._name) as store:
            await store.check()


async def _cancelled(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _holds_secret(url: str) -> bool:
    parts = urlsplit(url)
    return parts.password is not None or "password" in parts.query
