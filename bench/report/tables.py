"""The tables of a scenario's figures, each only if the scenario has them."""

from collections.abc import Iterator

from bench.figures import Percentiles, ThroughputPoint
from bench.report.tables_controls import control_tables
from bench.report.tables_pool import pool_tables
from bench.report.text import escape, milliseconds, number, table
from bench.results import POOL, Metrics, TenantMetrics

Caption = str


def metric_tables(metrics: Metrics) -> Iterator[tuple[Caption, list[str]]]:
    """Yield caption and lines of each table."""
    if metrics.tenants:
        yield "Tenants in the observation window", _tenants(metrics.tenants)
    if metrics.evaluation_notes:
        yield "Why Jain's index is not given", _pairs("Tenant", "Note", metrics.evaluation_notes)
    latencies = {
        "waiting for the start": metrics.queue_wait_ms,
        "processing": metrics.processing_ms,
        "end to end": metrics.end_to_end_ms,
        "round trip at light load": metrics.round_trip_ms,
    }
    present = {name: value for name, value in latencies.items() if value is not None}
    if present:
        yield "Latency", _latencies(present)
    if metrics.peak_reserved_slots is not None:
        yield "Peaks", _peaks(metrics)
    pool = _pool(metrics)
    if pool:
        yield "Pool", _pairs("", "", pool)
    if metrics.controller_events:
        yield (
            "Capacity changes",
            table(
                [("At s", "right"), ("From", "right"), ("To", "right"), ("Reason", "left")],
                [
                    [number(each.at_ms / 1000, 2), str(each.before), str(each.after), escape(each.reason)]
                    for each in metrics.controller_events
                ],
            ),
        )
    yield from control_tables(metrics)
    yield from pool_tables(metrics)
    yield from _costs(metrics)


def _tenants(tenants: dict[str, TenantMetrics]) -> list[str]:
    return table(
        [
            ("Tenant", "left"),
            ("Starts", "right"),
            ("Service", "right"),
            ("Per weight", "right"),
            ("Share", "right"),
            ("Ideal", "right"),
            ("Starved", "right"),
            ("Wait p95 ms", "right"),
            ("Total p95 ms", "right"),
            ("Backlogged", "right"),
        ],
        [
            [
                escape(name),
                str(each.successful_starts),
                number(each.service_cost, 0),
                number(each.normalized_service, 0),
                number(each.service_share, 3),
                number(each.ideal_share, 3),
                str(each.starvation_windows),
                number(each.queue_wait_p95_ms, 0),
                number(each.end_to_end_p95_ms, 0),
                f"{each.backlog_ratio:.0%}",
            ]
            for name, each in tenants.items()
        ],
    )


def _latencies(latencies: dict[str, Percentiles]) -> list[str]:
    return table(
        [("Milliseconds", "left"), ("p50", "right"), ("p95", "right"), ("p99", "right")],
        [
            [name, milliseconds(each.p50), milliseconds(each.p95), milliseconds(each.p99)]
            for name, each in latencies.items()
        ],
    )


def _peaks(metrics: Metrics) -> list[str]:
    slots, cost, active = (
        each or {} for each in (metrics.peak_reserved_slots, metrics.peak_reserved_cost, metrics.peak_active_slots)
    )
    return table(
        [("", "left"), ("Reserved slots", "right"), ("Reserved cost", "right"), ("Active slots", "right")],
        [
            [
                "pool" if who == POOL else escape(who),
                str(slots[who]),
                number(cost.get(who), 0),
                str(active.get(who, "–")),
            ]
            for who in slots
        ],
    )


def _pool(metrics: Metrics) -> dict[str, str]:
    facts: dict[str, str] = {}
    if metrics.workers is not None:
        facts["starts per worker"] = ", ".join(f"{name}: {count}" for name, count in metrics.workers.items())
    if metrics.attempt_states is not None:
        facts["attempts"] = ", ".join(f"{count} {state}" for state, count in metrics.attempt_states.items())
    if metrics.provider_peak is not None:
        facts["most calls at once, by the provider's count"] = str(metrics.provider_peak)
    if metrics.reserved_occupancy is not None:
        facts["reserved occupancy"] = number(metrics.reserved_occupancy, 3)
    if metrics.provider_occupancy is not None:
        facts["provider occupancy"] = number(metrics.provider_occupancy, 3)
    gap = metrics.service_gap
    if gap is not None:
        facts["largest service gap"] = f"{number(gap.largest, 0)} of at most {number(gap.bound, 0)}"
        if gap.witness is not None:
            facts["it built up"] = (
                f"{gap.witness.ahead} ahead of {gap.witness.behind}, "
                f"from {gap.witness.from_ms} to {gap.witness.to_ms} ms"
            )
    return facts


def _costs(metrics: Metrics) -> Iterator[tuple[Caption, list[str]]]:
    if metrics.loads:
        yield "Load, by number of tenants", _loads(metrics.loads, metrics.limited)
        yield "Where the server's time goes, per task of the load with the most tenants", _commands(metrics.loads[-1])
        if metrics.limited is not None:
            yield "The same with a budget and both windows for each tenant", _commands(metrics.limited)
    if metrics.dispatch_calls:
        yield (
            "One dispatch call, server time",
            table(
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
                    for each in metrics.dispatch_calls
                ],
            ),
        )
    if metrics.batching:
        rates = {f"batches of {size}": number(rate, 0, " tasks/s") for size, rate in metrics.batching.items()}
        yield "Submit, dispatch, start and settle by one caller, without workers", _pairs("", "", rates)
    if metrics.bytes_per_pending_task is not None:
        yield "Memory", _pairs("", "", {"bytes per pending task": number(metrics.bytes_per_pending_task, 0)})
    if metrics.drained:
        left = metrics.drained
        yield (
            "What a load leaves behind",
            table(
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
            ),
        )


def _loads(loads: list[ThroughputPoint], limited: ThroughputPoint | None) -> list[str]:
    rows = [(each, "none") for each in loads]
    if limited is not None:
        rows.append((limited, "budget, both windows"))
    return table(
        [
            ("Tenants", "right"),
            ("Limits of each", "left"),
            ("Tasks", "right"),
            ("Tasks/s", "right"),
            ("All turns", "left"),
            ("Calls per task", "right"),
            ("Server CPU µs per task", "right"),
        ],
        [
            [
                number(each.tenants, 0),
                limits,
                number(each.tasks, 0),
                number(each.tasks_per_s, 0),
                " ".join(number(rate, 0) for rate in each.turns_per_s),
                number(each.calls_per_task, 1),
                number(each.redis_cpu_us_per_task, 1),
            ]
            for each, limits in rows
        ],
    )


def _commands(load: ThroughputPoint) -> list[str]:
    busiest = sorted(load.commands_per_task, key=lambda name: -load.commands_per_task[name])[:12]
    return table(
        [("Command", "left"), ("Calls per task", "right"), ("µs per call", "right")],
        [
            [escape(name), number(load.commands_per_task[name], 2), number(load.us_per_call.get(name), 1)]
            for name in busiest
        ],
    )


def _pairs(left: str, right: str, rows: dict[str, str]) -> list[str]:
    return table([(left, "left"), (right, "left")], [[escape(name), escape(value)] for name, value in rows.items()])
