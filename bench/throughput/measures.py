"""The summary of a load's turns: medians and extremes, and ratios to another load that took the same turns."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from statistics import median, median_low
from typing import TypeAlias

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


Turns: TypeAlias = dict[int, Turn]
"""The turns of one load, by the number of their round."""


def summed_up(turns: Turns, *, tenants: int, tasks: int, reference: Turns, reference_tenants: int) -> ThroughputPoint:
    """Compute the figures. A load's turn is compared with the one of the reference in the same round.

    Raises:
        ValueError: there are no turns, or the reference had none in one of their rounds.
    """
    if not turns or not turns.keys() <= reference.keys():
        raise ValueError(f"rounds {[*turns]} against {[*reference]} of the reference: each must be there, at least one")
    each_turn = turns.values()
    speeds = [each.tasks_per_s for each in each_turn]
    calls = [each.calls_per_task for each in each_turn]
    return ThroughputPoint(
        tenants=tenants,
        tasks=tasks,
        median_tasks_per_s=median(speeds),
        fastest_tasks_per_s=max(speeds),
        turns_per_s={number: round(each.tasks_per_s, 1) for number, each in turns.items()},
        calls_per_task=median(calls),
        most_calls_per_task=max(calls),
        redis_cpu_us_per_task=median(each.cpu_us_per_task for each in each_turn),
        commands_per_task=_medians([each.commands_per_task for each in each_turn], absent=0.0),
        us_per_call=_medians([each.us_per_call for each in each_turn]),
        events=median_low(each.events for each in each_turn),
        reference_tenants=reference_tenants,
        speed_ratio=_ratio(turns, reference, lambda each: each.tasks_per_s),
        cpu_ratio=_ratio(turns, reference, lambda each: each.cpu_us_per_task),
    )


def _ratio(turns: Turns, reference: Turns, figure: Callable[[Turn], float]) -> float:
    """Return the median over the turns of the ratio: a machine that is slow for a while is slow for both."""
    return median(figure(turn) / figure(reference[number]) for number, turn in turns.items())


def _medians(turns: Collection[dict[str, float]], absent: float | None = None) -> dict[str, float]:
    """Return the median of each name over the turns; a turn that lacks it counts as ``absent``, or not at all."""
    found = {}
    for name in sorted({name for each in turns for name in each}):
        values = [each.get(name, absent) for each in turns]
        found[name] = round(median(value for value in values if value is not None), 4)
    return found
