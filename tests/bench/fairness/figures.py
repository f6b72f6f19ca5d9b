"""Good figures of a fairness scenario, each with the changes that a test passes."""

from bench.fairness.metrics import (
    CapacityChange,
    FairnessMetrics,
    GapWitness,
    Series,
    ServiceGap,
    TenantMetrics,
)
from bench.shared.metrics import POOL, Percentiles

NONE = Percentiles(p50=None, p95=None, p99=None)


def tenant(**changes) -> TenantMetrics:
    whole = {
        "successful_starts": 10,
        "service_cost": 100,
        "normalized_service": 100.0,
        "service_share": 0.5,
        "ideal_share": 0.5,
        "starvation_windows": 0,
        "queue_wait_p95_ms": 1.0,
        "end_to_end_p95_ms": 2.0,
        "backlog_ratio": 1.0,
        "deficit": (-100.0, 0.0),
    }
    return TenantMetrics(**(whole | changes))


def gap(largest: float, bound: float) -> ServiceGap:
    return ServiceGap(largest=largest, bound=bound, witness=GapWitness(ahead="a", behind="b", from_ms=0, to_ms=1))


def metrics(**changes) -> FairnessMetrics:
    """Two tenants, a with a ceiling of one slot, in a pool of two, on two workers."""
    whole = {
        "jain": 0.95,
        "evaluable": True,
        "evaluation_notes": {},
        "throughput_per_s": 10.0,
        "successful_starts": 20,
        "queue_wait_ms": NONE,
        "processing_ms": NONE,
        "end_to_end_ms": NONE,
        "tenants": {"a": tenant(), "b": tenant()},
        "workers": {"w1": 3, "w2": 1},
        "attempt_states": {"completed": 20, "throttled": 1},
        "throttled_then_completed": 1,
        "peak_reserved_slots": {POOL: 2, "a": 1, "b": 1},
        "peak_reserved_cost": {POOL: 20, "a": 10, "b": 10},
        "peak_active_slots": {POOL: 2, "a": 1, "b": 1},
        "provider_peak": 2,
        "controller_events": [],
        "service_gap": gap(10, 10),
        "rounds": 3,
        "reserved_occupancy": 0.95,
        "provider_occupancy": 0.95,
        "potential_orphans": [],
        "left_in_flight": {"slots": 0, "cost": 0},
        "violations": [],
        "series": Series(
            normalized_service={"a": [(0, 0.0)]}, backlog={"a": [(0, 0)]}, capacity=[], observed_ms=(0, 1)
        ),
    }
    return FairnessMetrics(**(whole | changes))


def moves(*steps: tuple[int, int]) -> FairnessMetrics:
    return metrics(controller_events=[CapacityChange.of(0, before, after, "x") for before, after in steps])


NOTHING = metrics(
    jain=None,
    evaluable=False,
    successful_starts=0,
    throughput_per_s=0,
    tenants={},
    workers={},
    attempt_states={},
    throttled_then_completed=0,
    peak_reserved_slots={},
    peak_reserved_cost={},
    peak_active_slots={},
    provider_peak=0,
    service_gap=None,
    rounds=0,
    reserved_occupancy=None,
    provider_occupancy=None,
    potential_orphans=["a:t (fence 1)"],
    left_in_flight={},
    violations=["no audit"],
)
"""Nothing was measured, and no invariant was checked."""
