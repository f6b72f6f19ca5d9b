"""A client by itself: what a process needs that submits to a scheduler which runs elsewhere. Loads no Ray."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fairlane.config import SchedulerConfig
from fairlane.errors import ConfigError
from fairlane.lifecycle.client import Client
from fairlane.lifecycle.estimate import Estimator
from fairlane.store.connection import Endpoint
from fairlane.store.store import Store


@asynccontextmanager
async def connect(config: SchedulerConfig, *, estimator: Estimator | None = None) -> AsyncIterator[Client]:
    """Open a client of the scheduler that ``config`` names: its name, its server's URL, its section ``client``.

    ``estimator`` is as for `Scheduler`. Leaving the context finishes what has been sent; tasks go on.

    Raises:
        ConfigError: no server is named, or no scheduler of this name has ever run there.
        StoreUnavailable, StoreUnsuitable: the server cannot be reached, or cannot be used.
    """
    server = config.server
    if server.url is None:
        raise ConfigError("server.url: missing; it names the server that the scheduler uses", field="server.url")
    async with Store(Endpoint(server.url, server.call_timeout_ms, server.connections), config.name) as store:
        await check_scheduler(store)
        async with Client(store, config.client, estimator=estimator) as client:
            yield client


async def check_scheduler(store: Store) -> None:
    """Refuse a server that cannot be used, and one on which no scheduler of this name has ever run.

    Raises:
        ConfigError: there is no such scheduler.
        StoreUnavailable, StoreUnsuitable: the server cannot be reached, or cannot be used.
    """
    await store.check()
    name = store.keys.name
    if not await store.command("EXISTS", store.keys.pool):
        raise ConfigError(f"name = {name}: no scheduler of this name on {store.endpoint.shown}", field="name")
