"""Tables of costs, in Markdown."""

from collections.abc import Iterator

from tools.instructions.measure import Costs


def table(costs: Costs, kind: str) -> Iterator[str]:
    """Yield the lines of one table: a row for each load, a column for each command, and the sum of them."""
    commands = list(dict.fromkeys(command for counts in costs.values() for command in counts))
    rows = [["per task", *commands, "all"]]
    for load, counts in costs.items():
        values = [counts[command][kind] if command in counts else 0.0 for command in commands]
        rows.append([load, *(_shown(value) for value in (*values, sum(values)))])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])])
    for load, *cells in rows:
        numbers = [cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True)]
        yield "| " + " | ".join([load.ljust(widths[0]), *numbers]) + " |"


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"
