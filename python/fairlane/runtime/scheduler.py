"""A scheduler: one pool with its actors, a client and an operator, started in order and stopped in reverse."""

from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Self

from fairlane.clock import RANDOM_IDS
from fairlane.config import SchedulerConfig
from fairlane.errors import ConfigError, FairlaneError, RuntimeStartError
from fairlane.lifecycle.client import Client
from fairlane.lifecycle.estimate import Estimator
from fairlane.providers.base import Provider
from fairlane.runtime.derived import of_client
from fairlane.runtime.operator import SchedulerOperator
from fairlane.runtime.platform import Platform
from fairlane.store.store import Store

if TYPE_CHECKING:  # the actors import Ray, whose environment is not set yet
    from fairlane.runtime.scheduler_actors import SchedulerActors


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts of a started scheduler."""

    platform: Platform
    store: Store
    actors: "SchedulerActors"
    client: Client


class Scheduler:
    """Runs tasks of many tenants through one provider, fairly. An async context manager.

    `client` submits, reads and cancels tasks; `operator` changes tenants, budgets, the capacity and the workers. The
    calls that every program needs are here too: `submit`, `submit_many` and `wait_many` are those of the client. All
    of them raise RuntimeStartError unless the scheduler is started.

    ``provider`` is ``package.module:attribute``, or an instance that pickles. ``estimator`` estimates the cost of
    tasks that are submitted without one; see `Client`. With a started ``platform`` the scheduler uses the platform's
    server and Ray and leaves them running; of the sections ``server`` and ``ray`` it then uses only the namespace.
    Several schedulers of one name on one server, each with a Ray of its own, serve one pool together; on one Ray the
    second is refused.
    """

    def __init__(
        self,
        config: SchedulerConfig | None = None,
        provider: str | Provider | None = None,
        *,
        platform: Platform | None = None,
        estimator: Estimator | None = None,
    ) -> None:
        if provider is None:
            raise ConfigError("provider: missing; give package.module:attribute or an instance", field="provider")
        self.config = config or SchedulerConfig()
        self._provider = provider
        self._estimator = estimator
        self._given_platform = platform
        self._parts: _Parts | None = None
        self._stack: AsyncExitStack | None = None

    async def start(self) -> None:
        """Start the server and Ray, then the pool with its tenants, then the actors, then the client.

        After an error or a cancellation nothing is left running.

        Raises:
            ConfigError, EmbeddedServerError, StoreUnavailable, StoreUnsuitable, RuntimeStartError
        """
        if self._stack is not None:
            raise RuntimeStartError(f"scheduler {self.config.name} is already started")
        config = self.config
        async with AsyncExitStack() as stack:
            platform = self._given_platform
            if platform is None:
                platform = await stack.enter_async_context(Platform(config.server, config.ray, name=config.name))
            store = await stack.enter_async_context(Store(platform.endpoint, config.name))
            await self._put(store)
            stack.callback(self._forget)
            actors = await self._start_actors(stack, platform, store)
            client = await stack.enter_async_context(Client(store, config.client, estimator=self._estimator))
            stack.enter_context(platform.observing_server(partial(self._on_server, store, client)))
            self._parts = _Parts(platform, store, actors, client)
            self._stack = stack.pop_all()

    async def stop(self) -> None:
        """Stop in reverse order. Running tasks get ``workers.grace_ms`` to finish; the others stay on the server.

        Can be called again.
        """
        stack, self._stack = self._stack, None
        if stack is not None:
            await stack.aclose()

    async def stop_now(self) -> None:
        """End the wait of a `stop` that runs in another task: the workers hand back their running tasks."""
        if self._parts is not None:
            await self._parts.actors.stop_now()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    submit = of_client(Client.submit)
    submit_many = of_client(Client.submit_many)
    wait_many = of_client(Client.wait_many)

    @property
    def client(self) -> Client:
        """Submits tasks, waits for them, reads and cancels them. Raises RuntimeStartError unless started."""
        return self._started.client

    @property
    def operator(self) -> SchedulerOperator:
        """Changes and reads tenants, budgets, the capacity and workers. Raises RuntimeStartError unless started."""
        return SchedulerOperator(self.store, lambda: self._started.actors)

    @property
    def store(self) -> Store:
        """The store, for reading events. Raises RuntimeStartError unless started."""
        return self._started.store

    @property
    def platform(self) -> Platform:
        """The server and Ray that the scheduler uses. Raises RuntimeStartError unless started."""
        return self._started.platform

    @property
    def _started(self) -> _Parts:
        if self._parts is None:
            raise RuntimeStartError(f"scheduler {self.config.name} is not started")
        return self._parts

    async def _start_actors(self, stack: AsyncExitStack, platform: Platform, store: Store) -> "SchedulerActors":
        # Imported once Ray's environment is set and Ray is connected.
        from fairlane.runtime.role_actor import StoreAddress  # noqa: PLC0415
        from fairlane.runtime.scheduler_actors import SchedulerActors  # noqa: PLC0415

        config = self.config
        namespace = config.ray.namespace or f"fairlane-{config.name}"
        sent, endpoint = platform.actor_endpoint, platform.endpoint
        url = None if sent is None else sent.url
        address = StoreAddress(config.name, url, endpoint.call_timeout_ms, endpoint.connections)
        actors = SchedulerActors(config, namespace, RANDOM_IDS.new_id()[:6], store, address, self._provider)
        stack.push_async_callback(actors.kill)
        await actors.start()
        stack.push_async_callback(actors.stop)
        return actors

    async def _put(self, store: Store) -> None:
        await store.put_pool(self.config.pool)
        await store.put_tenants(self.config.tenants)
        await store.admit(open=True)

    async def _on_server(self, store: Store, client: Client, failure: FairlaneError | None) -> None:
        """Continue on a server that has been started again: on its data, or without them from the configuration."""
        try:
            if failure is None and not await store.exists():
                await self._put(store)
        except FairlaneError as error:
            failure = error
        if failure is None:
            client._start_over()
        else:
            client._fail(failure)

    def _forget(self) -> None:
        self._parts = None
