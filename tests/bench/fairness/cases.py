"""Good and bad figures for the checks of fairness scenarios."""

from bench.fairness.checks import (
    EVALUABLE,
    EVERY_TENANT_SERVED,
    GAP_WITHIN_BOUND,
    THROTTLED,
    PeaksWithinLimits,
    SharesNearIdeal,
    WorkersUsed,
    at_least,
    capacity_moves,
    dominates,
    provider_peak,
    starved,
)
from bench.shared.checks import AUDIT_CLEAN, NOTHING_LEFT
from bench.shared.metrics import POOL
from tests.bench.fairness.figures import gap, metrics, moves, tenant

CASES = [
    (EVALUABLE, metrics(), [metrics(evaluable=False, evaluation_notes={"a": "idle"})]),
    (at_least("jain", 0.9), metrics(jain=0.9), [metrics(jain=0.899), metrics(jain=None)]),
    (at_least("reserved_occupancy", 0.9), metrics(reserved_occupancy=0.9), [metrics(reserved_occupancy=0.89)]),
    (at_least("provider_occupancy", 0.9), metrics(provider_occupancy=0.9), [metrics(provider_occupancy=0.89)]),
    (at_least("throttled_then_completed", 1), metrics(), [metrics(throttled_then_completed=0)]),
    (dominates("a"), metrics(tenants={"a": tenant(successful_starts=11), "b": tenant()}), [metrics()]),
    (
        starved("a"),
        metrics(tenants={"a": tenant(starvation_windows=1), "b": tenant()}),
        [metrics(tenants={"a": tenant(), "b": tenant(starvation_windows=1)})],
    ),
    (EVERY_TENANT_SERVED, metrics(), [metrics(tenants={"a": tenant(), "b": tenant(successful_starts=0)})]),
    (
        PeaksWithinLimits(),
        metrics(),
        [
            metrics(peak_reserved_slots={POOL: 3, "a": 1, "b": 2}),
            metrics(peak_reserved_slots={POOL: 2, "a": 2, "b": 1}),
            metrics(peak_reserved_cost={POOL: 21, "a": 11, "b": 10}),
            metrics(peak_active_slots={POOL: 3, "a": 1, "b": 2}),
        ],
    ),
    (WorkersUsed(), metrics(), [metrics(workers={"w1": 3})]),
    (
        NOTHING_LEFT,
        metrics(),
        [metrics(potential_orphans=["a:t"]), metrics(left_in_flight={"slots": 1, "cost": 10})],
    ),
    (AUDIT_CLEAN, metrics(), [metrics(violations=["counter: pool slots: 1; expected 0"])]),
    (
        SharesNearIdeal(0.05),
        metrics(tenants={"a": tenant(service_share=0.524)}),
        [metrics(tenants={"a": tenant(service_share=0.526)}), metrics(tenants={"a": tenant(ideal_share=None)})],
    ),
    (GAP_WITHIN_BOUND, metrics(), [metrics(service_gap=gap(11, 10)), metrics(service_gap=None)]),
    (
        capacity_moves(1, 4),
        moves((4, 2), (2, 3)),
        [moves((4, 2), (2, 4)), moves((4, 2)), moves((2, 3), (3, 4)), moves((2, 0), (0, 1))],
    ),
    (THROTTLED, metrics(), [metrics(attempt_states={"completed": 9})]),
    (provider_peak(2), metrics(), [metrics(provider_peak=3), metrics(provider_peak=0)]),
]
