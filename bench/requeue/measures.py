"""The effects of a throttle on its task and on the pool, from the events."""

from collections.abc import Sequence

from bench.requeue.metrics import Requeue
from bench.shared.budget_use import budget_use
from bench.shared.evidence import Attempt, Evidence, Stamp, Task, number_at
from fairlane.domain.attempt import AttemptState
from fairlane.domain.task import TaskRef, TaskView
from fairlane.store.messages import Ledger


def requeue(
    evidence: Evidence,
    ref: TaskRef,
    *,
    asked_ms: int,
    view: TaskView | None,
    in_pause: Ledger,
    at_event: int,
    held_back: int,
    calls_seen: Sequence[int],
    ledger: Ledger,
) -> Requeue:
    """Compute the figures.

    ``view``, ``in_pause``: the task and its tenant's ledger as the store knew them during the pause, the ledger after
    the event ``at_event``; ``held_back``: how often a worker asked in vain then; ``calls_seen``: the
    numbers of the task's completed attempts, as the provider got them.

    Raises:
        ValueError: the task was not throttled.
    """
    task = evidence.tasks[ref]
    throttled = next((each for each in task.attempts if each.state is AttemptState.THROTTLED), None)
    if throttled is None or throttled.ended is None:
        raise ValueError(f"{ref} was not throttled")
    at = throttled.ended
    until_ms = max((until for stamp, until in evidence.paused if _same_event(stamp, at)), default=None)
    starts = sorted(
        (each.active, str(each.ref))
        for each in evidence.attempts.values()
        if each.active is not None and each.active.place > at.place
    )
    overtaken_by, came_after = _order(evidence, task, at)
    return Requeue(
        task=str(ref),
        attempts=[each.state.value for each in task.attempts],
        asked_ms=asked_ms,
        paused_ms=None if until_ms is None else until_ms - at.at_ms,
        state_in_pause=None if view is None else view.state.value,
        failures=None if view is None else view.failures,
        calls_seen=[*calls_seen],
        held_before=_held(task, at.place - 1),
        held_after=in_pause.held - _in_flight(evidence, ref.tenant, at_event),
        overtaken_by=overtaken_by,
        came_after=came_after,
        handed_over=[str(each.ref) for each in evidence.attempts.values() if _waits_at(each, at)],
        held_back=held_back,
        starts_in_pause=[name for start, name in starts if until_ms is None or start.at_ms < until_ms],
        first_start_ms=starts[0][0].at_ms - at.at_ms if starts else None,
        charged=sum(each.actual for each in task.attempts),
        cost=task.cost,
        use=budget_use(evidence, ref.tenant, ledger),
    )


def _same_event(one: Stamp, other: Stamp) -> bool:
    return number_at(one.place) == number_at(other.place)


def _held(task: Task, place: int) -> int:
    """Return what is held for the task after the row at this place."""
    return sum(
        each.cost
        for each in task.attempts
        if each.enqueued.place <= place and (each.ended is None or each.ended.place > place)
    )


def _in_flight(evidence: Evidence, tenant: str, number: int) -> int:
    """Return the cost of the tenant's attempts that, by the events up to this one, had begun and not ended."""
    return sum(
        each.cost
        for each in evidence.of_tenant(tenant)
        if number_at(each.enqueued.place) <= number and (each.ended is None or number_at(each.ended.place) > number)
    )


def _waits_at(attempt: Attempt, at: Stamp) -> bool:
    return (
        attempt.enqueued < at
        and (attempt.active is None or attempt.active > at)
        and (attempt.ended is None or attempt.ended > at)
    )


def _order(evidence: Evidence, task: Task, at: Stamp) -> tuple[list[str], int]:
    """Of the tasks behind it in the queue, name those handed over before it was again, and count those after."""
    again = min((each.enqueued for each in task.attempts if each.enqueued > at), default=None)
    before, after = [], 0
    for each in evidence.attempts.values():
        other = evidence.tasks[each.ref]
        behind = (other.priority, other.submitted) > (task.priority, task.submitted)
        if behind and each.ref.tenant == task.ref.tenant and each.enqueued > at:
            if again is None or each.enqueued < again:
                before.append(str(each.ref))
            else:
                after += 1
    return before, after
