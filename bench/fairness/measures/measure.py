"""All metrics of one run of a fairness scenario."""

from bench.fairness.measures import attempts, backlog, gap, ideal, occupancy, service
from bench.fairness.measures.observation import Observation
from bench.fairness.measures.series import series
from bench.fairness.metrics import CapacityChange, FairnessMetrics, TenantMetrics
from bench.shared.metrics import EndMetrics
from fairlane import _core


def measure(observation: Observation, *, provider_peak: int, end: EndMetrics) -> FairnessMetrics:
    """Compute the metrics. ``provider_peak``: by the provider's own count; ``end``: what the run left."""
    notes = backlog.evaluation_notes(observation)
    tenants = _tenants(observation)
    starts = sum(each.successful_starts for each in tenants.values())
    return FairnessMetrics(
        jain=None if notes else _core.jain([each.normalized_service for each in tenants.values()]),
        evaluable=not notes,
        evaluation_notes=notes,
        throughput_per_s=starts * 1000 / observation.scenario.timing.observed_ms,
        successful_starts=starts,
        queue_wait_ms=service.percentiles(observation, service.queue_wait),
        processing_ms=service.percentiles(observation, service.processing),
        end_to_end_ms=service.percentiles(observation, service.end_to_end),
        tenants=tenants,
        workers=attempts.starts_by_worker(observation),
        attempt_states=attempts.states(observation),
        potential_orphans=attempts.potential_orphans(observation),
        throttled_then_completed=attempts.throttled_then_completed(observation),
        peak_reserved_slots=attempts.peak_reserved_slots(observation),
        peak_reserved_cost=attempts.peak_reserved_cost(observation),
        peak_active_slots=attempts.peak_active_slots(observation),
        provider_peak=provider_peak,
        controller_events=[
            CapacityChange.of(observation.offset(row.at.at_ms), row.before, row.after, row.reason)
            for row in observation.evidence.capacity
            if row.at.at_ms >= observation.origin_ms
        ],
        service_gap=gap.service_gap(observation),
        rounds=observation.evidence.rounds[-1][1] if observation.evidence.rounds else 0,
        reserved_occupancy=occupancy.reserved(observation),
        provider_occupancy=occupancy.provider(observation),
        left_in_flight=end.left_in_flight,
        violations=end.violations,
        series=series(observation),
    )


def _tenants(observation: Observation) -> dict[str, TenantMetrics]:
    costs = {load.id: service.service_cost(observation, load.id) for load in observation.loads}
    total = sum(costs.values())
    ideals = ideal.ideal_shares(observation)
    return {
        load.id: TenantMetrics(
            successful_starts=len(observation.counted[load.id]),
            service_cost=costs[load.id],
            normalized_service=costs[load.id] / load.weight,
            service_share=costs[load.id] / total if total else None,
            ideal_share=ideals[load.id],
            starvation_windows=backlog.starvation_windows(observation, load.id),
            queue_wait_p95_ms=service.p95(observation, load.id, service.queue_wait),
            end_to_end_p95_ms=service.p95(observation, load.id, service.end_to_end),
            backlog_ratio=backlog.backlog_ratio(observation, load.id),
            deficit=_range([attempt.deficit for attempt in observation.attempts[load.id]]),
        )
        for load in observation.loads
    }


def _range(values: list[float]) -> tuple[float, float] | None:
    return (round(min(values), 3), round(max(values), 3)) if values else None
