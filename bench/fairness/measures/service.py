"""Each tenant's service, its waits and its durations."""

from collections.abc import Callable, Iterable

from bench.fairness.measures.observation import Observation
from bench.shared.evidence import Attempt
from bench.shared.metrics import Percentiles
from fairlane import _core


def service_cost(observation: Observation, tenant: str) -> int:
    """Return the settled cost of the tenant's attempts that started inside the window and ended well."""
    return sum(attempt.actual for attempt in observation.counted[tenant])


def queue_wait(observation: Observation, attempts: Iterable[Attempt]) -> list[int]:
    """Return the milliseconds from each task's acceptance to the start of its attempt."""
    return [_at(each.active) - observation.evidence.tasks[each.ref].submitted.at_ms for each in attempts]


def processing(observation: Observation, attempts: Iterable[Attempt]) -> list[int]:
    """Return the milliseconds from each attempt's start to its end."""
    del observation
    return [_at(each.ended) - _at(each.active) for each in attempts]


def end_to_end(observation: Observation, attempts: Iterable[Attempt]) -> list[int]:
    """Return the milliseconds from each task's acceptance to its end."""
    return [_at(each.ended) - observation.evidence.tasks[each.ref].submitted.at_ms for each in attempts]


Duration = Callable[[Observation, Iterable[Attempt]], list[int]]


def percentiles(observation: Observation, duration: Duration) -> Percentiles:
    """Rank a duration over the successful starts of all tenants."""
    started = [each for attempts in observation.counted.values() for each in attempts]
    return Percentiles.of(duration(observation, started))


def p95(observation: Observation, tenant: str, duration: Duration) -> float | None:
    """Return the 95th percentile of a duration over one tenant's successful starts."""
    values = duration(observation, observation.counted[tenant])
    return _core.percentile([float(value) for value in values], 95.0)


def _at(stamp: tuple[int, int] | None) -> int:
    if stamp is None:
        raise ValueError("a successful start has both started and ended")
    return stamp[1]
