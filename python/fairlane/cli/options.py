"""The options that several commands share, and how commands read them."""

from pathlib import Path
from typing import Annotated

import typer

from fairlane.config import SchedulerConfig, load_config
from fairlane.domain.limits import MAX_TENANT_ID, id_problem
from fairlane.errors import ConfigError
from fairlane.store.connection import Endpoint

Redis = Annotated[
    str | None,
    typer.Option("--redis", help="The server's URL; default: the config file's, else $FAIRLANE_REDIS_URL."),
]
Config = Annotated[Path | None, typer.Option("--config", help="The configuration, a TOML file.")]
Name = Annotated[str, typer.Option("--name", help="The scheduler's name.")]
Tenant = Annotated[str, typer.Argument(help="The tenant's id.")]


def configuration(redis: str | None, config: Path | None) -> SchedulerConfig:
    """Read the configuration; ``--redis`` overrides the server's URL."""
    loaded = load_config(config)
    if redis is None:
        return loaded
    return loaded.model_copy(update={"server": loaded.server.model_copy(update={"url": redis})})


def endpoint(redis: str | None, config: Path | None) -> Endpoint:
    """Return the server's address. Raises ConfigError if nothing names a server."""
    server = configuration(redis, config).server
    if server.url is None:
        raise ConfigError("no server: give --redis or --config, or set $FAIRLANE_REDIS_URL", field="server.url")
    return Endpoint(server.url, server.call_timeout_ms, server.connections)


def checked_id(value: str, *, field: str = "name") -> str:
    """Return a valid name of a scheduler, or id of a tenant. Raises ConfigError if it is invalid."""
    problem = id_problem(value, longest=MAX_TENANT_ID)
    if problem is not None:
        raise ConfigError(f"{field} = {ascii(value)[:60]}: {problem}", field=field)
    return value
