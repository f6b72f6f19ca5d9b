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
    place = Endpoint(server.url, server.call_timeout_ms, server.connections)
    async with opened(place, config.name) as store, Client(store, config.client, estimator=estimator) as client:
        yield client


@asynccontextmanager
async def opened(endpoint: Endpoint, name: str) -> AsyncIterator[Store]:
    """Open the store of a scheduler that runs, or has run.

    Raises:
        ConfigError: no scheduler of this name has ever run there.
        StoreUnavailable, StoreUnsuitable: the server cannot be reached, or cannot be used.
    """
    async with Store(endpoint, name) as store:
        await store.check()
        if not await store.exists():
            raise ConfigError(f"name = {name}: no scheduler of this name on {endpoint.shown}", field="name")
        yield store
