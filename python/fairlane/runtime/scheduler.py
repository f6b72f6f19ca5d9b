"""A scheduler: one pool with its processes and a client, started in order and stopped in reverse."""

from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from fairlane.clock import RANDOM_IDS
from fairlane.config import SchedulerConfig, TenantConfig
from fairlane.domain.limits import check_tenant_id
from fairlane.domain.task import OnUnknown, TaskView
from fairlane.embedded.server import EmbeddedServer
from fairlane.errors import ConfigError, RuntimeStartError
from fairlane.lifecycle.client import Client
from fairlane.lifecycle.estimate import Estimator
from fairlane.lifecycle.handle import TaskHandle
from fairlane.lifecycle.sizing import Coverage
from fairlane.lifecycle.submission import DEFAULT_PRIORITY, TaskSpec
from fairlane.lifecycle.submitter import SubmitAnswer
from fairlane.providers.base import Provider
from fairlane.runtime.platform import Platform
from fairlane.store.messages import CancelStatus, Ledger, Snapshot, WorkerView
from fairlane.store.store import Store

if TYPE_CHECKING:
    from fairlane.runtime.fleet import Fleet

PartT = TypeVar("PartT")


class Scheduler:
    """Runs tasks of many tenants through one provider, fairly. An async context manager.

    ``provider`` is ``package.module:attribute``, or an instance that pickles. ``estimator`` is what the client makes
    the cost of tasks from that are submitted without one. With a ``platform`` that is started, its server and its Ray
    are used and left running, and the sections ``server`` and ``ray`` count no more, except for the namespace. Several
    schedulers of one name on one server, each with a Ray of its own, serve one pool together; on one Ray the second is
    refused.
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
        self._platform: Platform | None = None
        self._store: Store | None = None
        self._client: Client | None = None
        self._fleet: Fleet | None = None
        self._stack: AsyncExitStack | None = None

    # -- life ------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Start the server and Ray, the pool with its tenants, the actors, the client: each when the last is ready.

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
                platform = await stack.enter_async_context(Platform(config.server, config.ray))
            store = await stack.enter_async_context(Store(platform.endpoint, config.name))
            await store.put_pool(config.pool)
            await store.put_tenants(config.tenants)
            await store.admit(open=True)
            await self._start_fleet(stack, platform, store)
            self._client = await stack.enter_async_context(Client(store, config.client, estimator=self._estimator))
            self._platform, self._store = platform, store
            self._stack = stack.pop_all()

    async def stop(self) -> None:
        """Stop gracefully, in reverse: running tasks get the workers' grace time, others stay with the server.

        May be called again.
        """
        stack, self._stack = self._stack, None
        if stack is not None:
            await stack.aclose()

    async def stop_now(self) -> None:
        """Have a stop that is under way in another task not wait for running tasks: they are handed back."""
        if self._fleet is not None:
            await self._fleet.stop_now()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def _start_fleet(self, stack: AsyncExitStack, platform: Platform, store: Store) -> None:
        # Imported once Ray's environment is set and Ray is connected.
        from fairlane.runtime.fleet import Fleet  # noqa: PLC0415
        from fairlane.runtime.roles import StoreAddress  # noqa: PLC0415

        config = self.config
        namespace = config.ray.namespace or f"fairlane-{config.name}"
        told, known = platform.actor_endpoint, platform.endpoint
        url = None if told is None else told.url
        address = StoreAddress(config.name, url, known.call_timeout_ms, known.connections)
        fleet = self._fleet = Fleet(config, namespace, RANDOM_IDS.new_id()[:6], store, address, self._provider)
        stack.callback(self._forget)
        stack.push_async_callback(fleet.kill)
        await fleet.start()
        stack.push_async_callback(fleet.stop)

    # -- tasks -----------------------------------------------------------------------------------------------

    @property
    def client(self) -> Client:
        """The client. Raises RuntimeStartError unless started."""
        return self._started(self._client)

    async def submit(
        self,
        tenant: str,
        payload: object,
        *,
        cost: int | None = None,
        task_id: str | None = None,
        priority: int = DEFAULT_PRIORITY,
        deadline_s: float | None = None,
        on_unknown: OnUnknown = OnUnknown.RETRY,
    ) -> TaskHandle:
        """Submit one task; see `Client.submit`."""
        return await self.client.submit(
            tenant,
            payload,
            cost=cost,
            task_id=task_id,
            priority=priority,
            deadline_s=deadline_s,
            on_unknown=on_unknown,
        )

    async def submit_many(self, specs: Iterable[TaskSpec]) -> list[SubmitAnswer]:
        """Submit many tasks, one answer each; see `Client.submit_many`."""
        return await self.client.submit_many(specs)

    async def get(self, tenant: str, task_id: str) -> TaskView | None:
        """Return a task as it is now; None if it is unknown."""
        return await self.client.get(tenant, task_id)

    async def cancel(self, tenant: str, task_id: str) -> CancelStatus:
        """Ask for a task's end; see `Client.cancel`."""
        return await self.client.cancel(tenant, task_id)

    async def wait_many(self, handles: Sequence[TaskHandle], timeout_s: float | None = None) -> list[object]:
        """Wait for all; return each one's result or the TaskLost that says why there is none."""
        return await self.client.wait_many(handles, timeout_s)

    def coverage(self, tenant: str | None = None) -> Coverage:
        """Report how well sized holds covered what tasks cost; see `Client.coverage`."""
        return self.client.coverage(tenant)

    # -- operators -------------------------------------------------------------------------------------------

    @property
    def store(self) -> Store:
        """The store. Raises RuntimeStartError unless started."""
        return self._started(self._store)

    @property
    def platform(self) -> Platform:
        """What it runs on. Raises RuntimeStartError unless started."""
        return self._started(self._platform)

    @property
    def server(self) -> EmbeddedServer | None:
        """The embedded server; None if a URL names another one."""
        return self.platform.server

    async def put_tenant(self, tenant: str, config: TenantConfig) -> None:
        """Register a tenant or change its limits, with immediate effect."""
        await self.store.put_tenants({check_tenant_id(tenant): config})

    async def remove_tenant(self, tenant: str) -> bool:
        """Forget a tenant; False if there is none. Raises ConfigError while it has tasks."""
        return await self.store.remove_tenant(check_tenant_id(tenant))

    async def ledger(self, tenant: str) -> Ledger | None:
        """Read what a tenant holds and has spent of its budget; None if there is no such tenant."""
        return await self.store.ledger(check_tenant_id(tenant))

    async def top_up(self, tenant: str, units: int, key: str) -> int:
        """Add to a tenant's budget of this period; return the budget in force.

        The same ``key`` adds once within a day, so that it may be repeated. Raises ConfigError: no such tenant, or it
        has no budget.
        """
        return await self.store.top_up(check_tenant_id(tenant), units, key)

    async def pause(self, duration_ms: int) -> None:
        """Start nothing in the pool for so long."""
        await self.store.pause(duration_ms)

    async def resume(self) -> None:
        """End a pause."""
        await self.store.resume()

    async def set_capacity(self, slots: int) -> int:
        """Set the capacity; return what is in force, never above the hard limit."""
        return await self.store.set_capacity(slots)

    async def close_admission(self) -> None:
        """Take no new tasks; what was accepted goes on."""
        await self.store.admit(open=False)

    async def open_admission(self) -> None:
        """Take new tasks again; a start does so, too."""
        await self.store.admit(open=True)

    async def snapshot(self, after_tenant: str = "", limit: int = 1000) -> Snapshot:
        """Read the pool and a page of tenants at one instant."""
        return await self.store.snapshot(after_tenant, limit)

    async def workers(self) -> list[WorkerView]:
        """Read the worker incarnations the store knows."""
        return await self.store.workers()

    async def add_worker(self) -> str:
        """Start one more worker; return its name. Raises RuntimeStartError: it says why it cannot work."""
        return await self._started(self._fleet).add_worker()

    async def remove_worker(self, name: str, grace_s: float | None = None) -> None:
        """Have a worker finish what it runs, hand back the rest, and end. Without any worker, tasks wait.

        ``grace_s``: how long it may take; None: the workers' grace time. Raises WorkerError (worker_not_found).
        """
        await self._started(self._fleet).remove_worker(name, grace_s)

    async def actor_pids(self) -> dict[str, int]:
        """Return the process id of each actor, by its name; waits for one that is being restarted."""
        fleet = self._started(self._fleet)
        return {name: health.pid for name, health in (await fleet.health()).items()}

    def _forget(self) -> None:
        self._platform = self._store = self._client = self._fleet = None

    def _started(self, part: PartT | None) -> PartT:
        if part is None:
            raise RuntimeStartError(f"scheduler {self.config.name} is not started")
        return part
