"""Clients and operators of a scheduler that another process runs. Loads no Ray."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fairlane.config import SchedulerConfig
from fairlane.errors import ConfigError
from fairlane.lifecycle.client import Client
from fairlane.lifecycle.estimate import Estimator
from fairlane.lifecycle.operator import Operator
from fairlane.store.connection import Endpoint
from fairlane.store.store import Store


@asynccontextmanager
async def connect(config: SchedulerConfig, *, estimator: Estimator | None = None) -> AsyncIterator[Client]:
    """Open a client of a scheduler. Of ``config`` it uses ``name``, ``server`` and ``client``.

    ``estimator`` is as for `Client`. Leaving the context finishes the requests that have been sent; tasks continue.

    Raises:
        ConfigError: ``server.url`` is missing, or no scheduler of this name has run on that server.
        StoreUnavailable: the server does not answer.
        StoreUnsuitable: the server answers, but Fairlane cannot use it.
    """
    server = config.server
    if server.url is None:
        raise ConfigError("server.url: missing; it names the server that the scheduler uses", field="server.url")
    endpoint = Endpoint(server.url, server.call_timeout_ms, server.connections)
    async with opened(endpoint, config.name) as store, Client(store, config.client, estimator=estimator) as client:
        yield client


@asynccontextmanager
async def operating(endpoint: Endpoint, name: str) -> AsyncIterator[Operator]:
    """Open an operator of a scheduler that runs or has run on a server; raises as `opened` does."""
    async with opened(endpoint, name) as store:
        yield Operator(store)


@asynccontextmanager
async def opened(endpoint: Endpoint, name: str) -> AsyncIterator[Store]:
    """Open the store of a scheduler that runs or has run on a server.

    Raises:
        ConfigError: no scheduler of this name has run there.
        StoreUnavailable: the server does not answer.
        StoreUnsuitable: the server answers, but Fairlane cannot use it.
    """
    async with Store(endpoint, name) as store:
        await store.check()
        if not await store.exists():
            raise ConfigError(f"name = {name}: no scheduler of this name on {endpoint.shown}", field="name")
        yield store
