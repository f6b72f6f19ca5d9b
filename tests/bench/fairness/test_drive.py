"""Fairness scenarios, driven against a real server with every role on this loop."""

from dataclasses import replace

from bench.fairness.drive import drive
from bench.fairness.scenario import ProviderLimits, Timing
from bench.fairness.scenarios import CONTENTION, FAIR
from tests.bench.worlds import keys, on

SHORT = Timing(run_ms=1_500, submit_until_ms=1_300, observe_from_ms=300, observe_until_ms=1_300)


async def test_a_scenario_is_measured_and_leaves_nothing_behind(platform, endpoint):
    before = await keys(endpoint)
    metrics = await drive(replace(CONTENTION, timing=SHORT), on(platform))
    assert set(metrics.tenants) == {"interactive", "standard", "noisy"}
    assert metrics.left_in_flight == {"slots": 0, "cost": 0}
    assert metrics.potential_orphans == []
    assert metrics.violations == []
    assert metrics.peak_reserved_slots["__global"] == 4
    assert metrics.provider_peak == 4
    assert set(metrics.workers) == {"worker-1", "worker-2"}
    assert metrics.attempt_states["completed"] > 20
    assert metrics.service_gap.largest <= metrics.service_gap.bound
    assert 0.5 < metrics.provider_occupancy < metrics.reserved_occupancy <= 1.0
    assert await keys(endpoint) == before


async def test_a_throttling_provider_shows_in_the_metrics(platform):
    throttling = replace(FAIR, timing=SHORT, provider=ProviderLimits(schedule=((0, 4), (400, 2))))
    metrics = await drive(throttling, on(platform))
    assert metrics.attempt_states["throttled"] > 0
    assert metrics.throttled_then_completed > 0
    assert metrics.left_in_flight == {"slots": 0, "cost": 0}
