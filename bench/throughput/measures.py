"""The summary of a load's turns: medians and extremes, and ratios to another load that took the same turns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median, median_low

from bench.throughput.metrics import ThroughputPoint


@dataclass(frozen=True, slots=True)
class Turn:
    """One load, driven once. Times are the server's."""

    tasks_per_s: float
    calls_per_task: float
    cpu_us_per_task: float
    commands_per_task: dict[str, float]
    us_per_call: dict[str, float]
    events: int


def summed_up(
    turns: Sequence[Turn], *, tenants: int, tasks: int, reference: Sequence[Turn], reference_tenants: int
) -> ThroughputPoint:
    """Compute the figures. Turn i of the reference ran beside turn i of the load.

    Raises:
        ValueError: there are no turns, or not as many of the reference.
    """
    if not turns or len(turns) != len(reference):
        raise ValueError(f"{len(turns)} turns against {len(reference)} of the reference: wants as many, at least one")
    speeds = [each.tasks_per_s for each in turns]
    calls = [each.calls_per_task for each in turns]
    return ThroughputPoint(
        tenants=tenants,
        tasks=tasks,
        median_tasks_per_s=median(speeds),
        fastest_tasks_per_s=max(speeds),
        turns_per_s=[round(each, 1) for each in speeds],
        calls_per_task=median(calls),
        most_calls_per_task=max(calls),
        redis_cpu_us_per_task=median(each.cpu_us_per_task for each in turns),
        commands_per_task=_medians([each.commands_per_task for each in turns], absent=0.0),
        us_per_call=_medians([each.us_per_call for each in turns]),
        events=median_low(each.events for each in turns),
        reference_tenants=reference_tenants,
        speed_ratio=_ratio(turns, reference, lambda each: each.tasks_per_s),
        cpu_ratio=_ratio(turns, reference, lambda each: each.cpu_us_per_task),
    )


def _ratio(turns: Sequence[Turn], reference: Sequence[Turn], figure: Callable[[Turn], float]) -> float:
    """Return the median over the turns of the ratio: a machine that is slow for a while is slow for both."""
    return median(figure(mine) / figure(theirs) for mine, theirs in zip(turns, reference, strict=True))


def _medians(turns: Sequence[dict[str, float]], absent: float | None = None) -> dict[str, float]:
    """Return the median of each name over the turns; a turn that lacks it counts as ``absent``, or not at all."""
    found = {}
    for name in sorted({name for each in turns for name in each}):
        values = [each.get(name, absent) for each in turns]
        found[name] = round(median(value for value in values if value is not None), 4)
    return found
