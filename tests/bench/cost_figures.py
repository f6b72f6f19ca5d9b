"""Figures about what a decision costs."""

from bench.figures_cost import DispatchPoint, Drained, ThroughputPoint


def point(tenants: int, rate: float, calls: float = 10.0, **changes) -> ThroughputPoint:
    whole = {
        "tenants": tenants,
        "tasks": 1,
        "median_tasks_per_s": rate,
        "fastest_tasks_per_s": rate,
        "turns_per_s": [rate],
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
