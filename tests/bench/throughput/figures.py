"""Good figures about the cost of a decision, each with the changes that a test passes."""

from bench.shared.metrics import Percentiles
from bench.throughput.metrics import Backlog, DispatchPoint, Drained, ThroughputMetrics, ThroughputPoint


def point(tenants: int, rate: float, calls: float = 10.0, **changes) -> ThroughputPoint:
    whole = {
        "tenants": tenants,
        "tasks": 1,
        "median_tasks_per_s": rate,
        "fastest_tasks_per_s": rate,
        "turns_per_s": {0: rate},
        "calls_per_task": 1.0,
        "most_calls_per_task": calls,
        "redis_cpu_us_per_task": 1.0,
        "commands_per_task": {},
        "us_per_call": {},
        "events": 1,
        "reference_tenants": 100,
        "speed_ratio": 1.0,
        "cpu_ratio": 1.0,
    }
    return ThroughputPoint(**(whole | changes))


def call(parked: int, batch: int, p50_us: float | None) -> DispatchPoint:
    return DispatchPoint(tenants=parked + 10, parked=parked, batch=batch, calls=9, p50_us=p50_us, p99_us=p50_us)


def drained(**changes) -> Drained:
    whole = {
        "keys_before": 5,
        "keys_peak": 500,
        "keys_after": 5,
        "data_before_bytes": 1000,
        "data_peak_bytes": 11_000,
        "data_after_bytes": 1100,
    }
    return Drained(**(whole | changes))


def metrics(**changes) -> ThroughputMetrics:
    whole = {
        "loads": [point(100, 100)],
        "limited": point(100, 100),
        "round_trip_ms": Percentiles(p50=1.0, p95=2.0, p99=3.0),
        "dispatch_calls": [call(0, 1, 100), call(9990, 1, 100)],
        "parked_ratios": {"1": 1.0, "64": 1.0},
        "batching": {"1": 10, "64": 100},
        "backlogs": [],
        "drained": drained(),
    }
    return ThroughputMetrics(**(whole | changes))


def queues(*each: tuple[int, int, float | None], batch: int = 64) -> ThroughputMetrics:
    """Queues of (tenants, tasks waiting), and the ratio of a call to one in the shortest queue."""
    return metrics(
        backlogs=[
            Backlog(tenants=tenants, pending=pending, bytes_per_task=1.0, calls=[], ratios={str(batch): ratio})
            for tenants, pending, ratio in each
        ]
    )


NOTHING = metrics(
    loads=[],
    limited=point(100, 0),
    dispatch_calls=[],
    parked_ratios={},
    batching={},
    drained=drained(
        keys_before=0, keys_peak=0, keys_after=0, data_before_bytes=0, data_peak_bytes=0, data_after_bytes=0
    ),
)
"""Nothing was measured."""
