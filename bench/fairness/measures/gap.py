"""The largest service gap between two backlogged tenants, against what deficit round robin allows.

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
from fairlane.domain.policy import QueuePolicy

Change = (
    tuple[Literal["weight", "backlogged", "head", "kept", "reversed"], int, int]
    | tuple[Literal["unbacklogged"], int]
    | tuple[Literal["dispatched"], int, int, int]
    | tuple[Literal["settled"], int, int, int, int]
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
    found = _core.service_gap([each[3] for each in history], observation.scenario.pool.quantum_units)
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
        history.append((since.place, 0, since.at_ms, ("dispatched", index, attempt.fence, attempt.charge)))
        if until is not None:
            history.append(
                (until.place, 0, until.at_ms, _ending(index, attempt, observation.scenario.pool.max_cost_units))
            )
    trace = observation.evidence.tenants.get(load.id)
    return history if trace is None else history + _backlog(index, load, trace)


def _ending(index: int, attempt: Attempt, most: int) -> Change:
    """Return how the charge ended: corrected, kept, or given back because nothing ran.

    ``most``: fairness counts no more of an actual cost.
    """
    if attempt.ended_well:
        return ("settled", index, attempt.fence, min(attempt.actual, most), attempt.forfeited)
    gave_back = attempt.state in {AttemptState.THROTTLED, AttemptState.RETURNED}
    if gave_back or attempt.active is None:
        return ("reversed", index, attempt.fence)
    return ("kept", index, attempt.fence)


def _backlog(index: int, load: TenantLoad, trace: TenantTrace) -> list[Placed]:
    """Follow when the tenant could be served: something queued, and not parked.

    Every task of the tenant has the same estimate, so its head has too. A tenant that becomes backlogged
    without a deficit in the events owes nothing.
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
            history.append((place, 1, at_ms, ("head", index, load.cost)))
            history.append((place, 2, at_ms, ("backlogged", index, trace.deficits.get(number_at(place), 0))))
        elif backlogged and not can_be_served:
            history.append((place, 1, at_ms, ("unbacklogged", index)))
        backlogged = can_be_served
    return history
