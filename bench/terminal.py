"""The terminal while and after the benchmark runs, and the one place that may write to it.

Ray writes to the process's standard output whatever its settings are. While it runs, descriptors 1 and 2 lead to a
log file, and only the streams made here reach the terminal.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.status import Status
from rich.table import Table
from rich.text import Text

from bench.results import Results, ScenarioResult
from bench.shared.metrics import Check
from bench.shared.scenario import Scenario
from bench.shared.text import number, plain, visible


@dataclass(frozen=True)
class Streams:
    """The real standard output and standard error."""

    out: TextIO
    err: TextIO


@contextmanager
def only_ours(log: Path) -> Iterator[Streams]:
    """Send what anything else writes to descriptors 1 and 2 into ``log`` for as long as the context lasts."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(1), os.dup(2)]
    with open(log, "ab", buffering=0) as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    try:
        with (
            open(kept[0], "w", encoding="utf-8", closefd=False, buffering=1) as out,
            open(kept[1], "w", encoding="utf-8", closefd=False, buffering=1) as err,
        ):
            yield Streams(out, err)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for descriptor, copy in enumerate(kept, start=1):
            os.dup2(copy, descriptor)
            os.close(copy)


class Screen:
    """Shows progress while scenarios run. Lines only, where there is no terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status = Status("", console=console, spinner="dots")

    def __enter__(self) -> "Screen":
        if self._console.is_terminal:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Show no progress any more."""
        self._status.stop()

    def say(self, line: str) -> None:
        """Print one plain line above the progress."""
        self._console.print(Text(visible(line)), soft_wrap=True)

    def progress(self, what: str) -> None:
        """See ``bench.runner.Audience``."""
        self._status.update(Text(what))

    def ended(self, result: ScenarioResult) -> None:
        """See ``bench.runner.Audience``."""
        mark = Text("✓ ", "green") if result.passed else Text("✗ ", "red")
        passed = sum(check.passed for check in result.checks)
        self._console.print(
            mark + Text(f"{result.name}: {passed} of {len(result.checks)} checks, {result.duration_s:.1f} s")
        )


def show(console: Console, results: Results, not_compared: list[str]) -> None:
    """Print the summary table and every failed check with what was observed and expected."""
    table = Table(title="Summary", title_justify="left", title_style="bold")
    table.add_column("Scenario", no_wrap=True)
    table.add_column("Verdict")
    for heading in ("Checks", "Jain", "Tasks/s", "Starved", "Took s"):
        table.add_column(heading, justify="right")
    for each in results.scenarios:
        table.add_row(*_row(each))
    console.print(table)
    for check in results.claims:
        console.print(_line(check), soft_wrap=True)
    for line in not_compared:
        console.print(Text(f"– not compared: {line}"), soft_wrap=True)
    failed = [(each.name, check) for each in results.scenarios for check in each.checks if not check.passed]
    for name, check in failed:
        console.print(_line(check, name), soft_wrap=True)
    count = sum(len(each.checks) for each in results.scenarios) + len(results.claims)
    wrong = len(failed) + sum(not check.passed for check in results.claims)
    if results.passed:
        console.print(Text(f"PASSED: all {count} checks", "bold green"))
    else:
        console.print(Text(f"FAILED: {wrong} of {count} checks", "bold red"))


def _row(each: ScenarioResult) -> list[Text]:
    headline = each.metrics.headline()
    cells = [
        f"{sum(check.passed for check in each.checks)}/{len(each.checks)}",
        number(headline.jain, 3),
        number(headline.tasks_per_s, 1),
        number(headline.starvation_windows, 0),
        number(each.duration_s, 1),
    ]
    verdict = Text("passed", "green") if each.passed else Text("FAILED", "bold red")
    return [Text(visible(each.name)), verdict, *(Text(cell) for cell in cells)]


def _line(check: Check, scenario: str | None = None) -> Text:
    name = check.name if scenario is None else f"{scenario}: {check.name}"
    mark = Text("✓ ", "green") if check.passed else Text("✗ ", "red")
    return mark + Text(visible(f"{name} – observed {plain(check.observed)}; expected {check.expected}"))


def listing(console: Console, scenarios: tuple[Scenario, ...]) -> None:
    """Print every scenario with its group and title."""
    table = Table(box=None)
    for heading in ("Name", "Group", "Quick", "What it is"):
        table.add_column(heading, no_wrap=heading != "What it is")
    for each in scenarios:
        table.add_row(each.name, each.group, "yes" if each.quick else "", each.title)
    console.print(table)
