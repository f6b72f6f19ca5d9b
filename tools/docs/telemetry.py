"""Renders what is told to OpenTelemetry as a page: every instrument and every span.

Run as ``python -m tools.docs.telemetry > docs/telemetry.md``.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import Final

from fairlane.telemetry.names import INSTRUMENTS, SPANS
from fairlane.telemetry.recorder import SCOPE

RECIPE: Final = """\
import asyncio

from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import ConsoleMetricExporter, PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter

from fairlane.workers import LocalWorker, Manager, WorkerGroup

metrics.set_meter_provider(MeterProvider([PeriodicExportingMetricReader(ConsoleMetricExporter())]))
tracers = TracerProvider()
tracers.add_span_processor(BatchSpanProcessor(ConsoleSpanExporter()))
trace.set_tracer_provider(tracers)


async def double(value: int) -> int:
    return 2 * value


async def main() -> None:
    async with Manager(WorkerGroup([LocalWorker("a")])) as manager:
        await manager.assign(double, 21)


asyncio.run(main())
"""

_INTRO: Final = f"""\
# What Fairlane tells OpenTelemetry

Generated from `fairlane.telemetry.names` by `python -m tools.docs.telemetry`; do not edit.

What is instrumented today is the pool layer, `fairlane.workers`: managers, workers, health checks and restarts. The
scheduler is instrumented as far as it is made of that layer: the checks and restarts of its workers (kind `scheduler`).
What it admits, dispatches, holds and settles is not told to OpenTelemetry; `fairlane status`, `fairlane audit` and the
event stream tell it, see [operations.md](operations.md#watching).

Everything is recorded under the scope `{SCOPE}`, with the providers of the process or those handed to `Telemetry`.
Without an SDK nothing is recorded.

Attributes of instruments take few values: statuses, outcomes, error codes, names of strategies and kinds of workers.
Ids of workers and tasks are on spans only.

## Attaching an SDK

Fairlane needs the API only. `pip install opentelemetry-sdk` adds what collects; set it up before the first pool,
manager or scheduler is made. This program prints what it would send; an exporter for OTLP takes the console's place.

```python
{RECIPE}```
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
