"""``python -m tools.instructions``: measure, and fail if the costs do not keep to the budget."""

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from subprocess import SubprocessError

from fairlane.errors import FairlaneError
from tools.instructions.budget import Budget, measures, problems
from tools.instructions.measure import LOADS, Costs, measure
from tools.instructions.server import has_valgrind, server_version
from tools.instructions.table import table


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0 if every measure keeps to its budget, or is the new budget."""
    parser = argparse.ArgumentParser(prog="python -m tools.instructions", description=str(__doc__).partition(": ")[2])
    parser.add_argument("--write", action="store_true", help="make what is measured the new budget")
    wanted = parser.parse_args(arguments)
    server = server_version()
    if wanted.write:
        if not has_valgrind():
            parser.error("--write needs valgrind on PATH, because a budget has instructions, too")
        costs = _costs(instructions=True)
        Budget(server, costs).write()
        _show(costs, instructions=True)
        return 0

    budget = Budget.read()
    why_not = _why_no_instructions(server, budget)
    if why_not:
        _say(f"calls and bytes only: {why_not}")
    try:
        costs = _costs(instructions=not why_not)
    except (FairlaneError, RuntimeError, OSError, SubprocessError) as error:
        if why_not:
            raise
        why_not = f"callgrind cannot count here: {error}"
        _say(f"calls and bytes only: {why_not}")
        costs = _costs(instructions=False)
    _show(costs, instructions=not why_not)
    found = list(
        problems(
            measures(costs, instructions=not why_not),
            measures(budget.costs, instructions=not why_not),
        )
    )
    _say("\n".join(found) if found else "every measure keeps to its budget")
    return 1 if found else 0


def _why_no_instructions(server: str, budget: Budget) -> str:
    """Return why instructions cannot be compared here, or nothing if they can."""
    if not has_valgrind():
        return "valgrind is not on PATH"
    if server != budget.server:
        return f"the budget's instructions are those of server {budget.server}; this is {server}"
    return ""


def _costs(*, instructions: bool) -> Costs:
    """Measure several loads at once, each on servers of its own: no count depends on the time."""
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        runs = threads.map(lambda load: asyncio.run(measure(load(), instructions=instructions)), LOADS)
        return {load: commands for costs in runs for load, commands in costs.items()}


def _show(costs: Costs, *, instructions: bool) -> None:
    for kind in ("instructions", "calls", "bytes") if instructions else ("calls", "bytes"):
        _say(f"{kind}\n" + "\n".join(table(costs, kind)) + "\n")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())
