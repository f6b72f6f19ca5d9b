"""The commands and their options."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from fairlane.cli import audit, doctor, serve, status, tenants
from fairlane.cli.logs import LogLevel, shown
from fairlane.cli.options import Config, Name, Redis, checked_id, configuration, endpoint
from fairlane.errors import FairlaneError

app = typer.Typer(
    help="Fairlane: fair, budget-aware dispatch for LLM work.",
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(tenants.app, name="tenants")

_WrongUse: type[typer.BadParameter] = typer.BadParameter.__mro__[2]
"""The base of all usage errors. Typer has its own copy of Click's errors, and exports only this subclass."""


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
    """Check whether this machine and a server can run Fairlane. Without a URL, check an embedded server."""
    asyncio.run(doctor.report(configuration(redis, config).server))


@app.command("serve")
def serve_command(
    config: Annotated[Path, typer.Option("--config", help="The configuration, a TOML file.")],
    provider: Annotated[
        str, typer.Option("--provider", help="The provider that workers call, as package.module:attribute.")
    ],
    redis: Redis = None,
    log_level: Annotated[
        LogLevel,
        typer.Option(help="Which records go to standard error. info and debug also log how each task ends."),
    ] = LogLevel.WARNING,
) -> int:
    """Run a scheduler until SIGTERM or Ctrl-C; then wait for running tasks. A second signal requeues them at once."""
    with shown(log_level):
        return asyncio.run(serve.serve(configuration(redis, config), provider))


@app.command("status")
def status_command(name: Name = "default", redis: Redis = None, config: Config = None) -> None:
    """Show the pool, its workers and its tenants."""
    asyncio.run(status.show(endpoint(redis, config), checked_id(name)))


@app.command("audit")
def audit_command(name: Name = "default", redis: Redis = None, config: Config = None) -> int:
    """Check everything that a scheduler has stored. Print one line for each violation, and exit 1 if there is any.

    Audit a scheduler at rest. If something changes while the audit reads, it reads again, a few times, and may then
    report changes that it could not keep up with as violations. It writes nothing.
    """
    return asyncio.run(audit.report(endpoint(redis, config), checked_id(name)))
