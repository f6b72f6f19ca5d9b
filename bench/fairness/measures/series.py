"""The series of the charts, at the scenario's sampling step."""

from bench.fairness.measures.observation import Observation, sampled
from bench.fairness.metrics import Series


def series(observation: Observation) -> Series:
    """Return the series of all tenants from the clock's start to the end of the run."""
    timing = observation.scenario.timing
    steps = range(0, timing.run_ms + 1, timing.sample_ms)
    end_ms = observation.origin_ms + timing.run_ms
    service, backlog = {}, {}
    for load in observation.loads:
        settled = sorted(
            (observation.offset(each.ended.at_ms), each.actual)
            for each in observation.attempts[load.id]
            if each.ended_well and each.ended is not None
        )
        service[load.id] = [
            (step, round(sum(actual for at_ms, actual in settled if at_ms <= step) / load.weight, 3)) for step in steps
        ]
        waiting = sampled(observation.waiting(load.id), observation.origin_ms, end_ms + 1, timing.sample_ms)
        backlog[load.id] = list(zip(steps, waiting, strict=True))
    return Series(
        normalized_service=service,
        backlog=backlog,
        capacity=_capacity(observation),
        observed_ms=(timing.observe_from_ms, timing.observe_until_ms),
    )


def _capacity(observation: Observation) -> list[tuple[int, int]]:
    end_ms = observation.scenario.timing.run_ms
    capacity = observation.scenario.pool.slots
    points = [(0, capacity)]
    for row in observation.evidence.capacity:
        at_ms = observation.offset(row.at.at_ms)
        if at_ms <= end_ms:
            points = [(0, row.after)] if at_ms <= 0 else [*points, (at_ms, row.after)]
            capacity = row.after
    return [*points, (end_ms, capacity)]
