"""The figures of tasks whose dispatcher was killed repeatedly, from the events."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from bench.handoff.metrics import Handoff
from bench.shared.evidence import Attempt, Evidence, number_at
from fairlane.domain.task import TaskState


def by_dispatcher(evidence: Evidence, attempt: Attempt) -> bool:
    """Return whether a dispatcher placed it: not its submit, which found nothing waiting, and not its worker's turn."""
    submitted, active = evidence.tasks[attempt.ref].submitted, attempt.active
    others = {number_at(submitted.place), number_at(active.place) if active else None}
    return number_at(attempt.enqueued.place) not in others


def handoff(evidence: Evidence, tenant: str, *, kills: Sequence[tuple[int, int, int]], results: int) -> Handoff:
    """Compute the figures.

    ``kills``: of each the process, the number of the last event before it, and the tasks that had not ended;
    ``results``: how many tasks the client has a result of.
    """
    handed_over = [
        number_at(each.enqueued.place) for each in evidence.of_tenant(tenant) if by_dispatcher(evidence, each)
    ]
    since = [0, *(number for _, number, _ in kills)]
    tasks = [task for task in evidence.tasks.values() if task.ref.tenant == tenant]
    states = Counter(attempt.state for attempt in evidence.of_tenant(tenant))
    return Handoff(
        kills=len(kills),
        processes=len({pid for pid, _, _ in kills}),
        handed_over_before=[sum(first < number <= last for number in handed_over) for first, last in pairwise(since)],
        unended_at=[unended for _, _, unended in kills],
        tasks=len(tasks),
        completed=sum(task.state is TaskState.COMPLETED for task in tasks),
        results=results,
        attempts={state.value: count for state, count in sorted(states.items())},
    )


def together(parts: Sequence[Handoff]) -> Handoff:
    """Return the figures of several schedulers as those of one."""
    attempts = sum((Counter(each.attempts) for each in parts), Counter[str]())
    return Handoff(
        kills=sum(each.kills for each in parts),
        processes=sum(each.processes for each in parts),
        handed_over_before=[count for each in parts for count in each.handed_over_before],
        unended_at=[count for each in parts for count in each.unended_at],
        tasks=sum(each.tasks for each in parts),
        completed=sum(each.completed for each in parts),
        results=sum(each.results for each in parts),
        attempts=dict(sorted(attempts.items())),
    )
