"""The roles of one scheduler in one process, each with its own store, on a real server."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

from fairlane.config import ClientConfig, ControllerConfig, DispatcherConfig, PoolConfig, TenantConfig, WorkerConfig
from fairlane.control.controller import Controller
from fairlane.lifecycle.client import Client
from fairlane.lifecycle.dispatcher import Dispatcher
from fairlane.lifecycle.estimate import Estimator
from fairlane.lifecycle.reaper import Reaper
from fairlane.lifecycle.worker import Worker
from fairlane.providers.base import Call, Provider, Reply
from fairlane.run import Role, Signals
from fairlane.store.connection import Endpoint
from fairlane.store.store import Store

TIMEOUT_S = 20.0
HEARTBEAT_MS = 50
RoleT = TypeVar("RoleT", bound=Role)


class Running(Generic[RoleT]):
    """A role and the task that runs it."""

    def __init__(self, role: RoleT, store: Store) -> None:
        self.role = role
        self.store = store
        self.signals = Signals()
        self.task = asyncio.create_task(role.run(self.signals))

    async def stop(self) -> None:
        """Stop it as an operator would."""
        self.signals.request_stop()
        async with asyncio.timeout(TIMEOUT_S):
            await self.task

    async def abandon(self) -> None:
        """Let the role vanish: it does not say goodbye, and sends no further heartbeat."""
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


class Harness:
    """Starts roles; `close` stops those that still run, and raises the error of a role that died."""

    def __init__(self, endpoint: Endpoint, name: str) -> None:
        self.endpoint = endpoint
        self.name = name
        self.store = self._new_store()
        self._stores = [self.store]
        self._clients: list[Client] = []
        self._running: list[Running[Any]] = []

    def _new_store(self) -> Store:
        return Store(self.endpoint, self.name)

    def _own_store(self) -> Store:
        store = self._new_store()
        self._stores.append(store)
        return store

    async def put(self, pool: PoolConfig | None = None, **tenants: TenantConfig) -> None:
        """Put the pool and its tenants; if none are given, one tenant `acme`."""
        await self.store.put_pool(pool or PoolConfig(lease_ms=2_000))
        await self.store.put_tenants(tenants or {"acme": TenantConfig()})

    async def client(self, *, estimator: Estimator | None = None, **settings: Any) -> Client:
        config = ClientConfig(**{"heartbeat_ms": HEARTBEAT_MS, **settings})
        client = Client(self._own_store(), config, estimator=estimator)
        await client.open()
        self._clients.append(client)
        return client

    async def dispatcher(self, **settings: Any) -> Running[Dispatcher]:
        config = DispatcherConfig(**{"heartbeat_ms": HEARTBEAT_MS, **settings})
        store = self._own_store()
        running = Running(Dispatcher(store, config), store)
        self._running.append(running)
        async with asyncio.timeout(TIMEOUT_S):
            await running.signals.ready.wait()
        return running

    async def worker(self, provider: Provider, name: str = "w1", **settings: Any) -> Running[Worker]:
        config = WorkerConfig(**{"heartbeat_ms": HEARTBEAT_MS, "backoff_base_ms": 1, "slots": 16, **settings})
        store = self._own_store()
        running = Running(Worker(store, provider, config, name=name), store)
        self._running.append(running)
        async with asyncio.timeout(TIMEOUT_S):
            await running.signals.ready.wait()
        return running

    async def reaper(self) -> Running[Reaper]:
        store = self._own_store()
        running = Running(Reaper(store), store)
        self._running.append(running)
        return running

    async def controller(self, **settings: Any) -> Running[Controller]:
        store = self._own_store()
        running = Running(Controller(store, ControllerConfig(**settings)), store)
        self._running.append(running)
        return running

    async def assert_nothing_held(self) -> None:
        """Every counter of the pool, its tenants and its workers is zero, and no task is left."""
        snapshot = await self.store.snapshot()
        assert (snapshot.pool.slots, snapshot.pool.cost, snapshot.pool.live) == (0, 0, 0)
        for tenant in snapshot.tenants:
            assert (tenant.id, tenant.slots, tenant.cost, tenant.queued, tenant.waiting) == (tenant.id, 0, 0, 0, 0)
        for worker in await self.store.workers():
            assert (worker.name, worker.load) == (worker.name, 0)

    async def close(self) -> None:
        for client in self._clients:
            await client.close()
        failures: list[BaseException] = []
        for running in self._running:
            running.signals.request_stop()
        for running in self._running:
            done, _ = await asyncio.wait({running.task}, timeout=TIMEOUT_S)
            if not done:
                await running.abandon()
                failures.append(AssertionError(f"{running.role} did not stop"))
            elif not running.task.cancelled() and (error := running.task.exception()) is not None:
                failures.append(error)
        await self.store.erase()
        for store in self._stores:
            await store.close()
        if failures:
            raise failures[0]


class Gate:
    """A provider whose calls wait until the test opens it. Records every call, and the calls that were stopped."""

    def __init__(self, *, actual: int | None = None) -> None:
        self.calls: list[Call] = []
        self.stopped: list[Call] = []
        self.open_to = asyncio.Event()
        self._begun: asyncio.Queue[Call] = asyncio.Queue()
        self._actual = actual

    async def call(self, call: Call) -> Reply:
        self.calls.append(call)
        self._begun.put_nowait(call)
        try:
            await self.open_to.wait()
        except asyncio.CancelledError:
            self.stopped.append(call)
            raise
        return Reply(call.task_id, self._actual)

    async def begun(self) -> Call:
        """Wait for the next call to begin."""
        async with asyncio.timeout(TIMEOUT_S):
            return await self._begun.get()


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Poll until the condition holds."""
    async with asyncio.timeout(TIMEOUT_S):
        while not await condition():
            await asyncio.sleep(0.01)
