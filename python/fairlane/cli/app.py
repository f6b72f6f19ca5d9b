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
"""The common ancestor of all usage errors; Typer has made Click's its own and exports only the youngest."""


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
    asyncio.run(doctor.report(configuration(redis, config).server))


@app.command("serve")
def serve_command(
    config: Annotated[Path, typer.Option("--config", help="A TOML file.")],
    provider: Annotated[str, typer.Option("--provider", help="What workers call: package.module:attribute.")],
    redis: Redis = None,
    log_level: Annotated[
        LogLevel,
        typer.Option(help="What is logged to standard error; from info on the ends of tasks are, too."),
    ] = LogLevel.WARNING,
) -> int:
    """Run a scheduler until SIGTERM or Ctrl-C; then finish what runs. A second one hands it back at once."""
    with shown(log_level):
        return asyncio.run(serve.serve(configuration(redis, config), provider))


@app.command("status")
def status_command(name: Name = "default", redis: Redis = None, config: Config = None) -> None:
    """Show the pool, its workers and its tenants."""
    asyncio.run(status.show(endpoint(redis, config), checked_id(name)))


@app.command("audit")
def audit_command(name: Name = "default", redis: Redis = None, config: Config = None) -> int:
    """Check all that a scheduler has stored: a line for each thing that does not hold, and exit 1; else exit 0.

    Meant for a scheduler at rest: while something moves it reads again, a few times, and may then report moves that it
    was too slow for. Changes nothing.
    """
    return asyncio.run(audit.report(endpoint(redis, config), checked_id(name)))
