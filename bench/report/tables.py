"""The tables of a scenario's figures, each only if the scenario has them."""

from collections.abc import Iterator

from bench.figures import Percentiles
from bench.report.tables_controls import control_tables
from bench.report.tables_cost import cost_tables
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
        yield "WorkerGroup", _pairs("", "", pool)
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
    yield from cost_tables(metrics)


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


def _pairs(left: str, right: str, rows: dict[str, str]) -> list[str]:
    return table([(left, "left"), (right, "left")], [[escape(name), escape(value)] for name, value in rows.items()])
