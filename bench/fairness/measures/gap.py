"""The largest service gap between two backlogged tenants, against the bound of docs/fairness.md.

The events are turned into the history that the native core judges: when each tenant could be served, what was
handed out, and how each charge was corrected.
"""

from typing import Literal

from bench.fairness.measures.observation import Observation
from bench.fairness.metrics import GapWitness, ServiceGap
from bench.fairness.scenario import TenantLoad
from bench.shared.evidence import Attempt, TenantTrace, number_at
from fairlane import _core
from fairlane.domain.attempt import AttemptState
from fairlane.domain.limits import MAX_COST
from fairlane.domain.policy import QueuePolicy

Change = (
    tuple[Literal["weight", "kept"], int, int]
    | tuple[Literal["backlogged"], int, float]
    | tuple[Literal["parked", "idle"], int]
    | tuple[Literal["reversed"], int, int, int]
    | tuple[Literal["dispatched", "settled"], int, int, int, int]
)
Placed = tuple[int, int, int, Change]
"""Place in the stream, rank within the place, server time, change."""


def service_gap(observation: Observation) -> ServiceGap | None:
    """Return the largest gap and its bound; if gaps exceed their bounds, the gap that does so furthest.

    None if no two tenants were backlogged together, or if the scenario's policy makes no promise about it.
    """
    if observation.scenario.pool.policy is not QueuePolicy.WDRR:
        return None
    history: list[Placed] = []
    for index, load in enumerate(observation.loads):
        history += _tenant(observation, index, load)
    history.sort(key=lambda each: each[:2])
    found = _core.service_gap([each[3] for each in history])
    if found is None:
        return None
    largest, closest = found
    reported = largest if closest.holds else closest
    ahead, behind = (observation.loads[index].id for index in reported.pair)
    return ServiceGap(
        largest=reported.gap,
        bound=reported.bound,
        witness=GapWitness(
            ahead=ahead,
            behind=behind,
            from_ms=observation.offset(history[reported.from_index][2]),
            to_ms=observation.offset(history[reported.to_index][2]),
        ),
    )


def _tenant(observation: Observation, index: int, load: TenantLoad) -> list[Placed]:
    history: list[Placed] = [(-1, index, observation.origin_ms, ("weight", index, load.weight))]
    for attempt in observation.attempts[load.id]:
        since, until = attempt.enqueued, attempt.ended
        handed: Change = ("dispatched", index, attempt.fence, attempt.charge, attempt.owed)
        history.append((since.place, 0, since.at_ms, handed))
        if until is not None:
            history.append((until.place, 0, until.at_ms, _ending(index, attempt)))
    trace = observation.evidence.tenants.get(load.id)
    return history if trace is None else history + _backlog(index, trace)


def _ending(index: int, attempt: Attempt) -> Change:
    """Return how the charge ended: corrected, kept, or given back because nothing ran."""
    if attempt.ended_well:
        return ("settled", index, attempt.fence, min(attempt.actual, MAX_COST), attempt.owed_after)
    gave_back = attempt.state in {AttemptState.THROTTLED, AttemptState.RETURNED}
    if gave_back or attempt.active is None:
        return ("reversed", index, attempt.fence, attempt.owed_after)
    return ("kept", index, attempt.fence)


def _backlog(index: int, trace: TenantTrace) -> list[Placed]:
    """Follow when the tenant could be served: something queued, and not parked.

    A tenant that becomes backlogged without a deficit in the events enters with none.
    """
    steps = [(delta.place, delta.at_ms, delta.change, 0) for delta in trace.queued]
    for since, until, _ in trace.parked:
        steps.append((since.place, since.at_ms, 0, 1))
        if until is not None:
            steps.append((until.place, until.at_ms, 0, -1))
    history: list[Placed] = []
    queued = parked = 0
    backlogged = False
    for place, at_ms, more_queued, more_parked in sorted(steps):
        queued += more_queued
        parked += more_parked
        can_be_served = queued > 0 and not parked
        if can_be_served and not backlogged:
            history.append((place, 1, at_ms, ("backlogged", index, trace.deficits.get(number_at(place), 0.0))))
        elif queued == 0:
            history.append((place, 1, at_ms, ("idle", index)))
        elif backlogged and not can_be_served:
            history.append((place, 1, at_ms, ("parked", index)))
        backlogged = can_be_served
    return history
