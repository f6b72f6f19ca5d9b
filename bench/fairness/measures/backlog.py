"""Tenants with work waiting, and tenants that starve: samples of the number of tasks submitted and not started."""

from bench.fairness.measures.observation import Observation, sampled
from bench.shared.metrics import POOL

MIN_STARTS = 30
MIN_BACKLOG_RATIO = 0.80


def backlog_ratio(observation: Observation, tenant: str) -> float:
    """Return the share of the window's samples in which the tenant had a task waiting to start."""
    samples = _samples(observation, tenant, observation.from_ms, observation.until_ms)
    return sum(count > 0 for count in samples) / len(samples)


def starvation_windows(observation: Observation, tenant: str) -> int:
    """Count the slices of the window in which the tenant waited in at least half the samples and started nothing."""
    slice_ms = observation.scenario.timing.slice_ms
    starts = [each.active.at_ms for each in observation.attempts[tenant] if each.active is not None]
    windows = 0
    for first_ms in range(observation.from_ms, observation.until_ms - slice_ms + 1, slice_ms):
        samples = _samples(observation, tenant, first_ms, first_ms + slice_ms)
        waited = 2 * sum(count > 0 for count in samples) >= len(samples)
        started = any(first_ms <= at_ms < first_ms + slice_ms for at_ms in starts)
        windows += waited and not started
    return windows


def evaluation_notes(observation: Observation) -> dict[str, str]:
    """Say, per tenant, what keeps Jain's index from meaning anything; empty if nothing does."""
    notes = {}
    starts = sum(len(attempts) for attempts in observation.counted.values())
    if starts < MIN_STARTS:
        notes[POOL] = f"{starts} successful starts in the window, fewer than {MIN_STARTS}"
    for tenant in observation.counted:
        ratio = backlog_ratio(observation, tenant)
        if ratio < MIN_BACKLOG_RATIO:
            notes[tenant] = f"had work waiting in {ratio:.0%} of the samples, less than {MIN_BACKLOG_RATIO:.0%}"
    return notes


def _samples(observation: Observation, tenant: str, first_ms: int, until_ms: int) -> list[int]:
    return sampled(observation.waiting(tenant), first_ms, until_ms, observation.scenario.timing.sample_ms)
