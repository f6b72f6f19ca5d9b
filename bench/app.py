"""One run of the benchmark: its terminal, platform and files, and its end at an interruption."""

import asyncio
import logging
import signal
import sys
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import uvloop
from rich.console import Console

from bench import claims, report, results
from bench.ray_platform import RayPlatform
from bench.results import Results
from bench.runner import Plan, run
from bench.shared.scenario import Scenario
from bench.shared.text import visible
from bench.terminal import Screen, Streams, only_ours, show
from fairlane.errors import FairlaneError

LOG_NAME = "bench.log"
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Options:
    """The command line, read and checked."""

    scenarios: list[Scenario]
    workers: int | None
    strategy: str
    redis: str | None
    ray_address: str | None
    out: Path
    seed: int
    backlog: int | None
    dashboard: bool
    hold: bool
    json: bool


def execute(options: Options) -> int:
    """Run, write report and results, and return the exit code. An error is one line; the log has the rest."""
    log = options.out / LOG_NAME
    log.write_bytes(b"")
    with only_ours(log) as streams:
        logging.basicConfig(
            stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(name)s %(message)s", force=True
        )
        try:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop:
                return loop.run(interruptible(_execute(options, streams), streams.err))
        except FairlaneError as error:
            _LOG.exception("failed")
            print(f"bench: {visible(error.message)}", file=streams.err)
            return 2 if error.code == "invalid_configuration" else 1
        except Exception as error:
            _LOG.exception("failed")
            print(f"bench: {type(error).__name__}: {visible(error)[:200]}; see {log}", file=streams.err)
            return 1


async def interruptible(run: Coroutine[Any, Any, int], err: TextIO) -> int:
    """Let SIGINT and SIGTERM cancel the run, which then shuts everything down in order. Return the exit code."""
    loop = asyncio.get_running_loop()
    work = asyncio.create_task(run)
    received: list[int] = []

    def interrupt(number: int) -> None:
        if not received:
            received.append(number)
            work.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupt, number)
    try:
        return await work
    except asyncio.CancelledError:
        print("interrupted", file=err)
        return 128 + (received[0] if received else signal.SIGINT)


async def _execute(options: Options, streams: Streams) -> int:
    console = Console(file=streams.err if options.json else streams.out)
    plan = Plan(options.scenarios, options.seed, options.workers, options.strategy, options.backlog)
    with Screen(console) as screen:
        screen.progress("starting the server and Ray")
        async with RayPlatform(
            redis=options.redis,
            ray_address=options.ray_address,
            strategy=options.strategy,
            dashboard=options.dashboard,
            hold=options.hold,
        ) as platform:
            for line in platform.invitation():
                screen.say(line)
            found = await run(plan, platform, screen)
            path = results.save(found, options.out)
            screen.stop()
            show(console, found, claims.skipped(found.scenarios))
            drawing = asyncio.create_task(_draw(found, path, console))
            if options.json:
                streams.out.write(found.to_json())
                streams.out.flush()
            if options.hold:
                await drawing
                console.print("everything stays up; press Ctrl-C to end")
                await _until_interrupted()
        await drawing
    return 0 if found.passed else 1


async def _draw(found: Results, path: Path, console: Console) -> None:
    """Write the report beside the results, in a thread: meanwhile Ray can stop."""
    page = await asyncio.to_thread(report.write, found, path.parent)
    console.print(f"report: {page}\nresults: {path}", soft_wrap=True, markup=False, highlight=False)


async def _until_interrupted() -> None:
    """Return at the signal that would otherwise cancel the run: after the results it is the ordinary end."""
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None:
            task.uncancel()
