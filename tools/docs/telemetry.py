"""Renders docs/telemetry.md: every instrument and every span.

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
# Metrics and spans

Generated from `fairlane.telemetry.names` by `python -m tools.docs.telemetry`; do not edit.

Fairlane records metrics and spans of `fairlane.workers` with OpenTelemetry: managers, workers, health checks and
restarts. For a scheduler it records the checks and restarts of its workers (kind `scheduler`), its dispatcher and its
controller (kinds of these names). `fairlane status`, `fairlane audit` and the event stream have what a scheduler
admits, dispatches, holds and settles: see [operations.md](operations.md#watching).

The scope is `{SCOPE}`. The providers are the process's own, or those given to `Telemetry`. Without an SDK nothing is
recorded.

Attributes of instruments take few values: statuses, outcomes, error codes, names of strategies and kinds of workers.
Ids of workers and tasks are on spans only.

## Attaching an SDK

Fairlane depends on OpenTelemetry's API only. Install an SDK with `pip install opentelemetry-sdk`, and set it up before
you make the first worker group, manager or scheduler. This program prints its metrics and spans; to send them to a
collector, use an OTLP exporter in place of the console's.

```python
{RECIPE}```
"""

_SPANS: Final = """\
A span that ends with an exception has the status error, with the error's code or class. The span of an attempt is a
child of its task's span. Spans of the work itself are children of the attempt's span if the work runs in this process.
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
