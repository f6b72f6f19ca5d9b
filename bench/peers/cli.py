"""``python -m bench peers``: its options, files and exit code.

0: delivery was exact everywhere. 1: it was not, or, with ``--require-goals``, a goal was missed.
"""

import asyncio
import logging
import sys
from pathlib import Path
from typing import Annotated, BinaryIO, Final

import typer
from rich.console import Console
from rich.text import Text

from bench import environment
from bench.app import interruptible
from bench.peers.compare import Plan, compare
from bench.peers.environments import ROOT
from bench.peers.results import PeerResults
from bench.peers.roster import PEERS, Peer
from bench.peers.tables import PAGE_NAME, render
from bench.peers.turn import Size
from bench.shared.text import plain, visible
from bench.terminal import Screen
from fairlane.errors import ConfigError, FairlaneError

LOG_NAME: Final = "peers.log"

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
_KEYS = ", ".join(each.key for each in PEERS)


@app.command()
def peers(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME...]", help=f"Queues to compare with: {_KEYS}; default: all.")
    ] = None,
    alone: Annotated[bool, typer.Option("--alone", help="Measure only Fairlane, in the same way.")] = False,
    rounds: Annotated[int, typer.Option(min=1, help="Turns of each queue.")] = 5,
    tasks: Annotated[int, typer.Option(min=100, help="Tasks of a load.")] = 10_000,
    trips: Annotated[int, typer.Option(min=1, help="Round trips in a turn.")] = 500,
    waiting: Annotated[int, typer.Option(min=1, help="Tasks that wait while memory is measured.")] = 2_000,
    cache: Annotated[Path, typer.Option(help="Where the queues' environments are made and kept.")] = Path(
        ".bench-peers"
    ),
    out: Annotated[Path, typer.Option(help="Directory for the page and the results.")] = Path("bench-results"),
    require_goals: Annotated[bool, typer.Option("--require-goals", help="Exit with 1 if a goal is missed.")] = False,
) -> int:
    """Measure the same work on other queues and on Fairlane, side by side on the same server binary."""
    chosen = () if alone else _choose(names or [])
    environment.check_place()
    environment.check_core()
    environment.check_out(out)
    size = Size(tasks=tasks, trips=trips, waiting=waiting)
    plan = Plan(peers=chosen, rounds=rounds, size=size, cache=ROOT / cache)
    with open(out / LOG_NAME, "wb") as log:
        logging.basicConfig(filename=log.name, level=logging.INFO, force=True)
        try:
            return asyncio.run(interruptible(_execute(plan, out, log, require_goals), sys.stderr))
        except FairlaneError as error:
            sys.stderr.write(f"bench: {visible(error.message)}\n")
            return 1


async def _execute(plan: Plan, out: Path, log: BinaryIO, require_goals: bool) -> int:
    console = Console()
    with Screen(console) as screen:
        results = await compare(plan, log, screen.progress, screen.say)
    page = out / PAGE_NAME
    page.write_text(render(results), encoding="utf-8")
    _show(console, results)
    console.print(f"page: {page}\nresults: {results.save(out)}", soft_wrap=True, markup=False, highlight=False)
    return 0 if results.exact and (results.reached or not require_goals) else 1


def _choose(names: list[str]) -> tuple[Peer, ...]:
    unknown = [name for name in names if name not in {each.key for each in PEERS}]
    if unknown:
        raise ConfigError(f"unknown queue {ascii(unknown[0])[:60]}; choose from: {_KEYS}")
    return tuple(each for each in PEERS if not names or each.key in names)


def _show(console: Console, results: PeerResults) -> None:
    for peer in results.peers:
        speeds = ", ".join(f"{load.tasks_per_s:,.0f} tasks/s at {load.tenants:,}" for load in peer.loads)
        line = f"{peer.name}: {speeds}; round trip p50 {peer.trips.p50:.2f} ms, p99 {peer.trips.p99:.2f} ms"
        console.print(Text(visible(line)), soft_wrap=True)
    for check in results.delivery:
        if not check.passed:
            console.print(Text(visible(f"✗ {check.name}: {plain(check.observed)}"), "red"), soft_wrap=True)
    for goal in results.goals:
        mark = "✓ met" if goal.passed else "– missed"
        line = f"{mark}: {goal.name}: {plain(goal.observed)}; the goal is {goal.expected}"
        console.print(Text(visible(line)), soft_wrap=True)
    console.print(Text("delivery was exact everywhere" if results.exact else "FAILED: delivery was not exact"))
