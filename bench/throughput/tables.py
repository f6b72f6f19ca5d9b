"""The tables of the cost of a decision."""

from collections.abc import Iterator

from bench.shared.kind import Table
from bench.shared.text import columns, escape, latencies, number, table
from bench.throughput.metrics import Backlog, DispatchPoint, Drained, ThroughputMetrics, ThroughputPoint

TERMS = {
    "loads": (
        "**Tasks per second** run from the first submit to the last result in the client's hands; the kinds of load "
        "take turns, and **against 100 tenants** is the median over the turns of the ratio to the load of 100 "
        "tenants without limits in the same round. **Calls per task** are the server commands that scripts and "
        "clients execute over a task's whole life: in the median turn, and in the one with the **most**, which is "
        "what the check looks at. The server's CPU per task bounds what one server can do."
    ),
    "backlogs": (
        "**Tasks waiting** is a queue that keeps its length: what a call hands over is submitted again before the "
        "next one. Queues of all lengths take turns, and **against the shortest queue** is the median over the "
        "turns of the ratio to its call in the same turn. **Bytes per pending task** are all that the server "
        "allocates for it, its entry in the event stream included."
    ),
    "drained": (
        "**What a load leaves behind** is looked at once its results were collected and their retention has passed: "
        "the number of keys must be what it was, and next to nothing of the memory may be kept."
    ),
}
_COMMANDS = 12
"""Of the most frequent ones."""


def tables(metrics: ThroughputMetrics) -> Iterator[Table]:
    """Yield the tables of everything that was measured."""
    yield "Latency", latencies({"round trip at light load": metrics.round_trip_ms})
    loads = [("none", each) for each in metrics.loads] + [("budget, both windows", metrics.limited)]
    yield f"Loads of {metrics.limited.tasks:,} tasks, dealt to their tenants one by one", _loads(loads)
    yield "Where the server's time goes: calls per task, and time per call, medians of all turns", _commands(loads)
    yield "One dispatch call, server time", _calls(metrics.dispatch_calls, metrics.parked_ratios)
    yield "One dispatch call while tasks wait, server time, and memory", _backlogs(metrics.backlogs)
    rates = {f"batches of {size}": number(rate, 0, " tasks/s") for size, rate in metrics.batching.items()}
    yield "Submit, dispatch, start and settle by one caller, without workers", columns([("", rates)])
    yield "What a load leaves behind", _drained(metrics.drained)


def _loads(loads: list[tuple[str, ThroughputPoint]]) -> list[str]:
    reference = f"against {loads[0][1].reference_tenants:,} tenants"
    return table(
        [
            ("Tenants", "right"),
            ("Limits of each", "left"),
            ("Turns", "right"),
            ("Tasks/s, median", "right"),
            ("Fastest turn", "right"),
            (f"Speed {reference}, median", "right"),
            ("Server CPU µs per task, median", "right"),
            (f"CPU {reference}, median", "right"),
            ("Calls per task, median", "right"),
            ("Calls per task, most", "right"),
        ],
        [
            [
                number(each.tenants, 0),
                limits,
                str(len(each.turns_per_s)),
                number(each.median_tasks_per_s, 0),
                number(each.fastest_tasks_per_s, 0),
                number(each.speed_ratio, 2, " ×"),
                number(each.redis_cpu_us_per_task, 1),
                number(each.cpu_ratio, 2, " ×"),
                number(each.calls_per_task, 1),
                number(each.most_calls_per_task, 1),
            ]
            for limits, each in loads
        ],
    )


def _commands(loads: list[tuple[str, ThroughputPoint]]) -> list[str]:
    """Show the commands of every load beside each other, and the time they take in the one with the most tenants."""
    most = max((each for _, each in loads), key=lambda each: each.tenants)
    names = dict.fromkeys(name for _, each in loads for name in each.commands_per_task)
    busiest = sorted(names, key=lambda name: -most.commands_per_task.get(name, 0.0))[:_COMMANDS]
    headings = [f"{each.tenants:,}{'' if limits == 'none' else ', limits'}" for limits, each in loads]
    return table(
        [
            ("Command", "left"),
            *((f"At {heading}", "right") for heading in headings),
            (f"µs per call at {most.tenants:,}", "right"),
        ],
        [
            [
                escape(name),
                *(number(each.commands_per_task.get(name), 2) for _, each in loads),
                number(most.us_per_call.get(name), 1),
            ]
            for name in busiest
        ],
    )


def _calls(points: list[DispatchPoint], ratios: dict[str, float | None]) -> list[str]:
    return table(
        [
            (heading, "right")
            for heading in (
                "Tenants",
                "Of them parked",
                "Batch",
                "Calls measured",
                "p50 µs",
                "p99 µs",
                "Against none parked, median",
            )
        ],
        [
            [
                number(each.tenants, 0),
                number(each.parked, 0),
                str(each.batch),
                str(each.calls),
                number(each.p50_us, 0),
                number(each.p99_us, 0),
                number(ratios.get(str(each.batch)) if each.parked else None, 2, " ×"),
            ]
            for each in points
        ],
    )


def _backlogs(backlogs: list[Backlog]) -> list[str]:
    return table(
        [
            ("Tenants", "right"),
            ("Tasks waiting", "right"),
            ("Batch", "right"),
            ("Calls measured", "right"),
            ("p50 µs", "right"),
            ("p99 µs", "right"),
            ("Against the shortest queue, median", "right"),
            ("Bytes per pending task", "right"),
        ],
        [
            [
                number(each.tenants, 0),
                number(each.pending, 0),
                str(point.batch),
                str(point.calls),
                number(point.p50_us, 0),
                number(point.p99_us, 0),
                number(each.ratios.get(str(point.batch)), 2, " ×"),
                number(each.bytes_per_task, 0),
            ]
            for each in backlogs
            for point in each.calls
        ],
    )


def _drained(left: Drained) -> list[str]:
    return table(
        [("", "left"), ("Before", "right"), ("Peak", "right"), ("After", "right")],
        [
            ["keys", number(left.keys_before, 0), number(left.keys_peak, 0), number(left.keys_after, 0)],
            [
                "data set kB",
                number(left.data_before_bytes / 1000, 0),
                number(left.data_peak_bytes / 1000, 0),
                number(left.data_after_bytes / 1000, 0),
            ],
        ],
    )
