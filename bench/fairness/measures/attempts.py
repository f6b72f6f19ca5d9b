"""The attempts of a run: their states, workers, peaks, orphans."""

from collections import Counter
from collections.abc import Callable, Iterable

from bench.fairness.measures.observation import Observation
from bench.shared.evidence import Attempt, Stamp
from bench.shared.metrics import POOL
from fairlane import _core
from fairlane.domain.attempt import AttemptState

Span = tuple[Stamp | None, int]
"""Since when an attempt holds something, and how much; it does until the attempt ends."""


def states(observation: Observation) -> dict[str, int]:
    """Count the run's attempts by the state they ended in, or are in."""
    counts = Counter(attempt.state for attempt in observation.all_attempts())
    return {state.value: counts[state] for state in AttemptState if counts[state]}


def starts_by_worker(observation: Observation) -> dict[str, int]:
    """Count starts per worker name over the whole run."""
    counts = Counter(
        observation.evidence.worker_of(attempt) for attempt in observation.all_attempts() if attempt.active is not None
    )
    return dict(sorted(counts.items()))


def potential_orphans(observation: Observation) -> list[str]:
    """Name the attempts handed over well before the end that by then had neither started nor ended."""
    end_ms = observation.end_ms
    return [
        f"{attempt.ref} (fence {attempt.fence})"
        for attempt in observation.all_attempts()
        if attempt.enqueued.at_ms <= end_ms - observation.scenario.timing.orphan_ms
        and not _by(attempt.active, end_ms)
        and not _by(attempt.ended, end_ms)
    ]


def throttled_then_completed(observation: Observation) -> int:
    """Count tasks of which an attempt was throttled and a later one completed before the run's end."""
    count = 0
    for task in observation.tasks():
        was_throttled = False
        for attempt in task.attempts:
            if attempt.state is AttemptState.THROTTLED:
                was_throttled = True
            elif was_throttled and attempt.ended_well and _by(attempt.ended, observation.end_ms):
                count += 1
    return count


def peak_reserved_slots(observation: Observation) -> dict[str, int]:
    """Return the most attempts held at once, from hand-over to end."""
    return _peaks(observation, lambda each: (each.enqueued, 1))


def peak_reserved_cost(observation: Observation) -> dict[str, int]:
    """Return the largest sum of estimates held at once."""
    return _peaks(observation, lambda each: (each.enqueued, each.cost))


def peak_active_slots(observation: Observation) -> dict[str, int]:
    """Return the most attempts running at once, from start to end."""
    return _peaks(observation, lambda each: (each.active, 1))


def _by(stamp: Stamp | None, at_ms: int) -> bool:
    return stamp is not None and stamp.at_ms <= at_ms


def _peaks(observation: Observation, hold: Callable[[Attempt], Span]) -> dict[str, int]:
    return {POOL: _peak(observation, observation.all_attempts(), hold)} | {
        tenant: _peak(observation, attempts, hold) for tenant, attempts in observation.attempts.items()
    }


def _peak(observation: Observation, attempts: Iterable[Attempt], hold: Callable[[Attempt], Span]) -> int:
    """Overlap by place in the stream, so that what happened within one millisecond is not taken for simultaneous."""
    after_all = observation.evidence.last.place + 1
    intervals, amounts = [], []
    for attempt in attempts:
        since, amount = hold(attempt)
        if since is not None:
            until = attempt.ended.place if attempt.ended is not None else after_all
            intervals.append((float(since.place), float(until)))
            amounts.append(float(amount))
    peak = _core.peak_overlap(intervals, amounts)
    return 0 if peak is None else int(peak[0])
