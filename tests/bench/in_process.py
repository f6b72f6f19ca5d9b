"""A platform without Ray: dispatcher, workers and controller on the test's own loop, against a real server."""

import asyncio
import copy
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from fairlane.config import SchedulerConfig
from fairlane.control.controller import Controller
from fairlane.lifecycle.client import Client
from fairlane.lifecycle.dispatcher import Dispatcher
from fairlane.lifecycle.worker import Worker
from fairlane.run import Signals
from fairlane.store.connection import Endpoint
from fairlane.store.store import Store


class Lives:
    """A dispatcher that restarts when it is ended; each life has its own number."""

    def __init__(self, store: Store, config: SchedulerConfig, signals: Signals) -> None:
        self.life = 0
        self._make = lambda: Dispatcher(store, config.dispatcher)
        self._signals = signals
        self._running: asyncio.Task[None] | None = None

    async def run(self) -> None:
        while not self._signals.stop.is_set():
            self.life += 1
            self._running = asyncio.create_task(self._make().run(self._signals))
            await asyncio.wait([self._running])
            if not self._running.cancelled():
                self._running.result()

    def end(self, life: int) -> None:
        assert life == self.life
        self._running.cancel()


class InProcessSession:
    """A scheduler's session whose roles are tasks of this loop."""

    def __init__(self, store: Store, client: Client, dispatcher: Lives) -> None:
        self.store = store
        self.submit_many = client.submit_many
        self.wait_many = client.wait_many
        self.cancel = client.cancel
        self.remove_tenant = store.remove_tenant
        self._dispatcher = dispatcher

    async def close_admission(self) -> None:
        await self.store.admit(False)

    async def actor_pids(self) -> dict[str, int]:
        return {"dispatcher": self._dispatcher.life}

    async def kill_actor(self, actor: str, pid: int) -> None:
        assert actor == "dispatcher"
        self._dispatcher.end(pid)
        while self._dispatcher.life == pid:
            await asyncio.sleep(0.01)


class InProcessPlatform:
    """Schedulers on one server."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.worker_url = endpoint.url

    @asynccontextmanager
    async def scheduler(self, config: SchedulerConfig, provider) -> AsyncIterator[InProcessSession]:
        signals = Signals()
        async with AsyncExitStack() as stack:

            async def connect() -> Store:
                return await stack.enter_async_context(Store(self.endpoint, config.name))

            store = await connect()
            stack.push_async_callback(store.erase)
            await store.put_pool(config.pool)
            await store.put_tenants(dict(config.tenants))
            dispatcher = Lives(await connect(), config, signals)
            roles = []
            for number in range(config.workers.count):
                own = copy.copy(provider)
                roles.append(Worker(await connect(), own, config.workers, name=f"worker-{number + 1}"))
            if config.controller.enabled:
                roles.append(Controller(await connect(), config.controller))
            running = [asyncio.create_task(role.run(signals)) for role in roles]
            running.append(asyncio.create_task(dispatcher.run()))
            client = await stack.enter_async_context(Client(await connect(), config.client))
            try:
                yield InProcessSession(store, client, dispatcher)
            finally:
                signals.request_stop()
                await asyncio.wait_for(asyncio.gather(*running), 20)
