"""The tables of what a decision costs."""

from collections.abc import Iterator

from bench.figures_cost import Backlog, DispatchPoint, Drained, ThroughputPoint
from bench.report.text import columns, escape, number, table
from bench.results import Metrics

_COMMANDS = 12
"""Of the most frequent ones."""


def cost_tables(metrics: Metrics) -> Iterator[tuple[str, list[str]]]:
    """Yield caption and lines of each table."""
    loads = _labelled(metrics)
    if loads:
        turns, tasks = len(loads[0][1].turns_per_s), loads[0][1].tasks
        yield f"Loads of {tasks:,} tasks, dealt to their tenants one by one; {turns} turns of each", _loads(loads)
        yield "Where the server's time goes: calls per task, and time per call, medians of all turns", _commands(loads)
    if metrics.dispatch_calls:
        yield "One dispatch call, server time", _calls(metrics.dispatch_calls)
    if metrics.backlogs:
        yield "One dispatch call while tasks wait, server time, and memory", _backlogs(metrics.backlogs)
    if metrics.batching:
        rates = {f"batches of {size}": number(rate, 0, " tasks/s") for size, rate in metrics.batching.items()}
        yield "Submit, dispatch, start and settle by one caller, without workers", columns([("", rates)])
    if metrics.drained:
        yield "What a load leaves behind", _drained(metrics.drained)


def _labelled(metrics: Metrics) -> list[tuple[str, ThroughputPoint]]:
    """Return every load with how its tenants are limited."""
    loads = [("none", each) for each in metrics.loads or []]
    return loads if metrics.limited is None else [*loads, ("budget, both windows", metrics.limited)]


def _loads(loads: list[tuple[str, ThroughputPoint]]) -> list[str]:
    reference = f"against {loads[0][1].reference_tenants:,} tenants"
    return table(
        [
            ("Tenants", "right"),
            ("Limits of each", "left"),
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


def _calls(points: list[DispatchPoint]) -> list[str]:
    return table(
        [
            (heading, "right")
            for heading in ("Tenants", "Of them parked", "Batch", "Calls measured", "p50 µs", "p99 µs")
        ],
        [
            [
                number(each.tenants, 0),
                number(each.parked, 0),
                str(each.batch),
                str(each.calls),
                number(each.p50_us, 0),
                number(each.p99_us, 0),
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
