"""The commands and their options."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from fairlane.cli import doctor, serve, status
from fairlane.config import SchedulerConfig, ServerConfig, TenantConfig, build, load_config
from fairlane.domain.limits import MAX_TENANT_ID, id_problem
from fairlane.errors import ConfigError, FairlaneError
from fairlane.store.connection import Endpoint

app = typer.Typer(
    help="Fairlane: fair, budget-aware dispatch for LLM work.",
    add_completion=False,
    pretty_exceptions_enable=False,
)
tenants = typer.Typer(help="Register and remove tenants of a running or stopped scheduler.")
app.add_typer(tenants, name="tenants")

_WrongUse: type[typer.BadParameter] = typer.BadParameter.__mro__[2]
"""The common ancestor of all usage errors; Typer has made Click's its own and exports only the youngest."""

Redis = Annotated[
    str | None, typer.Option("--redis", help="The server's URL; else the config file's, else $FAIRLANE_REDIS_URL.")
]
Config = Annotated[Path | None, typer.Option("--config", help="A TOML file.")]
Name = Annotated[str, typer.Option("--name", help="The scheduler's name.")]


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    try:
        code = app(list(arguments), prog_name="fairlane", standalone_mode=False)
    except FairlaneError as error:
        typer.echo(f"fairlane: {' '.join(error.message.split())}", err=True)
        return 1
    except _WrongUse as error:
        typer.echo(f"fairlane: {' '.join(error.format_message().split())}", err=True)
        return 2
    return code if isinstance(code, int) else 0


@app.command("doctor")
def doctor_command(redis: Redis = None, config: Config = None) -> None:
    """Say whether this machine and a server can run Fairlane. Without a URL an embedded server is tried."""
    asyncio.run(doctor.report(_server(redis, config)))


@app.command("serve")
def serve_command(
    config: Annotated[Path, typer.Option("--config", help="A TOML file.")],
    provider: Annotated[str, typer.Option("--provider", help="What workers call: package.module:attribute.")],
    redis: Redis = None,
) -> int:
    """Run a scheduler until SIGTERM or Ctrl-C; then finish what runs. A second one hands it back at once."""
    return asyncio.run(serve.serve(_configuration(redis, config), provider))


@app.command("status")
def status_command(name: Name = "default", redis: Redis = None, config: Config = None) -> None:
    """Show the pool and its tenants."""
    asyncio.run(status.show(_endpoint(redis, config), _name(name)))


@tenants.command("put")
def put_tenant(
    tenant: str,
    name: Name = "default",
    weight: int = 1,
    slots: Annotated[int | None, typer.Option(help="Tasks in flight at once.")] = None,
    cost_ceiling_units: Annotated[int | None, typer.Option(help="Cost in flight at once.")] = None,
    queue_limit: int = 1_000_000,
    redis: Redis = None,
    config: Config = None,
) -> None:
    """Register a tenant, or replace its limits: what is not named becomes the default."""
    limits = build(
        TenantConfig,
        {"weight": weight, "slots": slots, "cost_ceiling_units": cost_ceiling_units, "queue_limit": queue_limit},
    )
    asyncio.run(status.put_tenant(_endpoint(redis, config), _name(name), _name(tenant, field="tenant"), limits))


@tenants.command("remove")
def remove_tenant(tenant: str, name: Name = "default", redis: Redis = None, config: Config = None) -> None:
    """Forget a tenant that has no tasks."""
    asyncio.run(status.remove_tenant(_endpoint(redis, config), _name(name), _name(tenant, field="tenant")))


def _configuration(redis: str | None, config: Path | None) -> SchedulerConfig:
    loaded = load_config(config)
    if redis is None:
        return loaded
    return loaded.model_copy(update={"server": loaded.server.model_copy(update={"url": redis})})


def _server(redis: str | None, config: Path | None) -> ServerConfig:
    return _configuration(redis, config).server


def _endpoint(redis: str | None, config: Path | None) -> Endpoint:
    server = _server(redis, config)
    if server.url is None:
        raise ConfigError("no server named: give --redis, --config or $FAIRLANE_REDIS_URL", field="server.url")
    return Endpoint(server.url, server.call_timeout_ms, server.connections)


def _name(value: str, *, field: str = "name") -> str:
    problem = id_problem(value, longest=MAX_TENANT_ID)
    if problem is not None:
        raise ConfigError(f"{field} = {ascii(value)[:60]}: {problem}", field=field)
    return value
