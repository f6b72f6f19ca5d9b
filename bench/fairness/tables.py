"""The tables of a fairness scenario."""

from collections.abc import Iterator

from bench.fairness.metrics import CapacityChange, FairnessMetrics, TenantMetrics
from bench.shared.kind import Table
from bench.shared.metrics import POOL
from bench.shared.text import escape, latencies, number, table

TERMS = {
    "jain": (
        "**Jain's index** is (Σx)² / (n·Σx²) over the tenants' service per weight: 1 means that everybody got "
        "exactly the share its weight stands for, 1/n that one tenant got everything. It is given only if enough "
        "started and every tenant had work waiting nearly all the time, because a tenant without work cannot be "
        "treated unfairly."
    ),
    "tenants": (
        "**Service** is the actual cost of the attempts that started inside the observation window and completed; "
        "*per weight* divides it by the tenant's weight. The **ideal share** is what a perfect scheduler would "
        "give: as much per weight for everybody as the slots allow, but nobody more than its own slots can do in "
        "the cycle time that was measured (not given if a tenant starts nothing, or if the capacity changes). A "
        "**starvation window** is half a second in which a tenant waited and started nothing. The **deficit** is "
        "what the tenant is owed compared with the others (less than 0: what it has had in advance), from the lowest "
        "to the highest after a hand-over."
    ),
    "service_gap": (
        "The **service gap** is the largest difference in service per weight that built up between two tenants over "
        "any stretch of time in which both had work that could run. The bound follows from the largest "
        "charges and the errors of the estimates alone; it does not grow with time."
    ),
    "reserved_occupancy": (
        "**Reserved occupancy** is the share of the pool's slot-time that was handed out, **provider occupancy** "
        "the share in which the provider was really working, by its own clock marks. The difference is what handing "
        "over, starting and settling cost."
    ),
    "controller_events": (
        "The **capacity** is halved when the provider throttled since the last look, and comes back by one slot "
        "after four looks without a throttle; two changes are at least the cool-down apart. A throttled task keeps "
        "its place in the queue and counts as neither a failure nor as spent."
    ),
}
"""What a reader needs to know about a metric."""


def tables(metrics: FairnessMetrics) -> Iterator[Table]:
    """Yield the tables of everything that was measured."""
    if metrics.tenants:
        yield "Tenants in the observation window", _tenants(metrics.tenants)
    if metrics.evaluation_notes:
        yield "Why Jain's index is not given", _pairs("Tenant", "Note", metrics.evaluation_notes)
    yield (
        "Latency",
        latencies(
            {
                "waiting for the start": metrics.queue_wait_ms,
                "processing": metrics.processing_ms,
                "end to end": metrics.end_to_end_ms,
            }
        ),
    )
    yield "Peaks", _peaks(metrics)
    yield "Pool", _pairs("", "", _pool(metrics))
    if metrics.controller_events:
        yield "Capacity changes", _capacity(metrics.controller_events)


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
            ("Deficit", "right"),
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
                "–" if each.deficit is None else " to ".join(number(end, 0) for end in each.deficit),
            ]
            for name, each in tenants.items()
        ],
    )


def _peaks(metrics: FairnessMetrics) -> list[str]:
    slots, cost, active = metrics.peak_reserved_slots, metrics.peak_reserved_cost, metrics.peak_active_slots
    return table(
        [("", "left"), ("Reserved slots", "right"), ("Reserved cost", "right"), ("Active slots", "right")],
        [
            [
                "pool" if holder == POOL else escape(holder),
                str(slots[holder]),
                number(cost.get(holder), 0),
                str(active.get(holder, "–")),
            ]
            for holder in slots
        ],
    )


def _pool(metrics: FairnessMetrics) -> dict[str, str]:
    facts = {
        "starts per worker": ", ".join(f"{name}: {count}" for name, count in metrics.workers.items()),
        "attempts": ", ".join(f"{count} {state}" for state, count in metrics.attempt_states.items()),
        "most calls at once, by the provider's count": str(metrics.provider_peak),
        "rounds": str(metrics.rounds),
    }
    for what, occupancy in (("reserved", metrics.reserved_occupancy), ("provider", metrics.provider_occupancy)):
        if occupancy is not None:
            facts[f"{what} occupancy"] = number(occupancy, 3)
    gap = metrics.service_gap
    if gap is not None:
        facts["largest service gap"] = f"{number(gap.largest, 0)} of at most {number(gap.bound, 0)}"
        if gap.witness is not None:
            facts["it built up"] = (
                f"{gap.witness.ahead} ahead of {gap.witness.behind}, "
                f"from {gap.witness.from_ms} to {gap.witness.to_ms} ms"
            )
    return facts


def _capacity(changes: list[CapacityChange]) -> list[str]:
    return table(
        [("At s", "right"), ("From", "right"), ("To", "right"), ("Reason", "left")],
        [[number(each.at_ms / 1000, 2), str(each.before), str(each.after), escape(each.reason)] for each in changes],
    )


def _pairs(left: str, right: str, rows: dict[str, str]) -> list[str]:
    return table([(left, "left"), (right, "left")], [[escape(name), escape(value)] for name, value in rows.items()])
