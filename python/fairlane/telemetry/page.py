"""Renders what is told to OpenTelemetry as a page: every instrument and every span.

Run as ``python -m fairlane.telemetry.page > docs/telemetry.md``.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import Final

from fairlane.telemetry.names import INSTRUMENTS, SPANS
from fairlane.telemetry.recorder import SCOPE

_INTRO: Final = f"""\
# What Fairlane tells OpenTelemetry

Generated from `fairlane.telemetry.names` by `python -m fairlane.telemetry.page`; do not edit.

Everything is recorded under the scope `{SCOPE}`, with the providers of the process or those handed to `Telemetry`.
Without an SDK nothing is recorded.

Attributes of instruments take few values: statuses, outcomes, error codes, names of strategies and kinds of workers.
Ids of workers and tasks are on spans only.
"""

_SPANS: Final = """\
A span that ends with an exception has the status error, described by the error's code or class. The span of an attempt
lies within that of its task, and what the work traces within that of the attempt, if it is executed in this process.
"""


def render() -> str:
    """Return the page."""
    instruments = [
        (f"`{each.name}`", each.kind, f"`{each.unit}`", _names(each.attributes), each.meaning) for each in INSTRUMENTS
    ]
    spans = [(f"`{each.name}`", _names(each.attributes), each.meaning) for each in SPANS]
    lines = [_INTRO, "## Instruments", ""]
    lines += _table(("name", "kind", "unit", "attributes", "meaning"), instruments)
    lines += ["", "## Spans", "", _SPANS]
    lines += [*_table(("name", "attributes", "meaning"), spans), ""]
    return "\n".join(lines)


def _names(attributes: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in attributes)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    for row in (head, ["-" * width for width in widths], *rows):
        yield "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"


if __name__ == "__main__":
    sys.stdout.write(render())
