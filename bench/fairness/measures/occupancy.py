"""How much of the pool was in use: handed out, and really working."""

from bench.fairness.measures.observation import Observation
from fairlane import _core


def reserved(observation: Observation) -> float | None:
    """Return the share of the window's slot-time between hand-over and end."""
    last_ms = observation.evidence.last.at_ms
    return _occupancy(
        observation,
        [
            (float(each.enqueued.at_ms), float(each.ended.at_ms if each.ended is not None else last_ms))
            for each in observation.all_attempts()
        ],
    )


def provider(observation: Observation) -> float | None:
    """Return the share of the window's slot-time inside provider calls, up to the provider's own mark of their end.

    Only calls that completed left marks.
    """
    return _occupancy(
        observation, [(each.entered_us / 1000, each.left_us / 1000) for each in observation.calls.values()]
    )


def _occupancy(observation: Observation, intervals: list[tuple[float, float]]) -> float | None:
    capacity = float(observation.scenario.pool.slots)
    return _core.occupancy(intervals, capacity, float(observation.from_ms), float(observation.until_ms))
