"""The command line: from arguments to an exit code.

0: every check passed, 1: one failed, 2: bad input, 130: Ctrl-C, 143: SIGTERM.
"""

import sys
from pathlib import Path
from typing import Annotated, cast

import typer
from rich.console import Console

from bench import environment
from bench.app import Options, execute
from bench.kinds import GROUPS, SCENARIOS, choose
from bench.peers import cli as peers
from bench.terminal import listing
from fairlane.clock import system_rng
from fairlane.config import DispatcherConfig, build
from fairlane.domain.strategy_name import StrategyName
from fairlane.errors import ConfigError
from fairlane.workers.errors import WorkerError
from fairlane.workers.strategies import make_strategy

_USAGE_ERROR = cast(
    "type[typer.BadParameter]", next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
)
"""The root of typer's usage errors, wherever typer has its click from."""

_LARGE = 1_000_000
"""Tasks."""

_app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@_app.command()
def bench(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="full|quick|list|NAME...",
            help=f"full: everything; quick: a subset under a minute; list: print the scenarios; NAME: a scenario or a "
            f"group ({', '.join(GROUPS)}).",
        ),
    ],
    workers: Annotated[int | None, typer.Option(help="Workers of the scenarios that allow any number.")] = None,
    strategy: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help=f"How dispatchers choose a worker: {', '.join(StrategyName)}, or package.module:factory.",
        ),
    ] = DispatcherConfig().strategy,
    redis: Annotated[str | None, typer.Option(help="URL of a server; default: a private one.")] = None,
    ray_address: Annotated[str | None, typer.Option(help="A running Ray cluster; default: a private one.")] = None,
    out: Annotated[Path, typer.Option(help="Directory for the report and the results.")] = Path("bench-results"),
    seed: Annotated[int, typer.Option(help="Shifts the arrivals.")] = 1,
    large: Annotated[
        bool,
        typer.Option("--large", help=f"Measure also with {_LARGE:,} tasks waiting: some minutes and half a GB more."),
    ] = False,
    dashboard: Annotated[bool, typer.Option("--dashboard", help="Start Ray's dashboard.")] = False,
    hold: Annotated[bool, typer.Option("--hold", help="Keep everything up at the end until Ctrl-C.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print only the results file, on standard output.")] = False,
) -> int:
    """Show on a real server and real Ray processes what Fairlane promises.

    ``python -m bench peers`` compares Fairlane with other queues; it has options of its own.
    """
    if names == ["list"]:
        listing(Console(), SCENARIOS)
        return 0
    scenarios = choose(names)
    if workers is not None and not 1 <= workers <= 64:
        raise ConfigError(f"--workers {workers}: must be a whole number from 1 to 64")
    if ray_address is not None and redis is None:
        raise ConfigError("--ray-address: workers on other machines cannot reach a private server; add --redis URL")
    _check_strategy(strategy)
    environment.check_place()
    environment.check_core()
    if dashboard:
        environment.check_dashboard()
    environment.check_out(out)
    return execute(
        Options(
            scenarios=scenarios,
            workers=workers,
            strategy=strategy,
            redis=redis,
            ray_address=ray_address,
            out=out,
            seed=seed,
            backlog=_LARGE if large else None,
            dashboard=dashboard,
            hold=hold,
            json=json,
        )
    )


def run(arguments: list[str]) -> int:
    """Run the command line. Bad input is one plain line on standard error."""
    app, name = _app, "python -m bench"
    if arguments[:1] == ["peers"]:
        app, name, arguments = peers.app, f"{name} peers", arguments[1:]
    try:
        code: object = typer.main.get_command(app).main(arguments, prog_name=name, standalone_mode=False)
    except ConfigError as error:
        return _refuse(error.message)
    except _USAGE_ERROR as error:
        return _refuse(error.format_message())
    return code if isinstance(code, int) else 0


def _check_strategy(name: str) -> None:
    """Make the strategy once, so that a bad name is refused before anything is started.

    Raises:
        ConfigError: saying what is accepted, or why there is no strategy at the place that is named.
    """
    build(DispatcherConfig, {"strategy": name})
    try:
        make_strategy(name, system_rng())
    except WorkerError as error:
        raise ConfigError(error.message) from error


def _refuse(message: str) -> int:
    sys.stderr.write(f"bench: {' '.join(message.split())}\n")
    return 2
