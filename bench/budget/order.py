"""The order in which a tenant's tasks were handed over and started, and the tasks that came too early."""

from collections.abc import Callable, Iterable

from bench.shared.evidence import Attempt, Evidence, Stamp, Task

Moment = Callable[[Attempt], Stamp | None]
"""When something happened to an attempt; None: it did not."""


def handed(attempt: Attempt) -> Stamp:
    """Return when it was handed to a worker."""
    return attempt.enqueued


def started(attempt: Attempt) -> Stamp | None:
    """Return when it started."""
    return attempt.active


def first(attempts: Iterable[Attempt], moment: Moment) -> Stamp | None:
    """Return the first such moment of any of them."""
    return min((stamp for each in attempts if (stamp := moment(each)) is not None), default=None)


def too_early(evidence: Evidence, tenant: str, moment: Moment) -> list[str]:
    """Name the tasks whose first such moment came before that of a more urgent task, or before all were submitted."""
    tasks, submitted = _submitted(evidence, tenant)
    found = []
    for task in tasks:
        at = first(task.attempts, moment)
        urgent = [first(each.attempts, moment) for each in tasks if each.priority < task.priority]
        if at is not None and (at < submitted or any(each is None or each > at for each in urgent)):
            found.append(str(task.ref))
    return found


def overtook(evidence: Evidence, tenant: str) -> list[str]:
    """Name the tasks that started too early by what the store decides.

    It decides the order of the hand-overs, and starts what one worker was handed in that order. It does not decide
    which of two workers asks first: a task that started before one that another worker already had is not named.
    """
    tasks, submitted = _submitted(evidence, tenant)
    found = []
    for task in tasks:
        at = first(task.attempts, started)
        start = next((each for each in task.attempts if at is not None and each.active == at), None)
        if at is None or start is None:
            continue
        urgent = (each for each in tasks if each.priority < task.priority)
        if at < submitted or any(_passed_over(start.incarnation, at, each) for each in urgent):
            found.append(str(task.ref))
    return found


def _passed_over(worker: str, at: Stamp, urgent: Task) -> bool:
    """Return whether a task had not started and was with no worker, or with this one."""
    began = first(urgent.attempts, started)
    if began is not None and began < at:
        return False
    had = {each.incarnation for each in urgent.attempts if each.enqueued < at}
    return not had or worker in had


def _submitted(evidence: Evidence, tenant: str) -> tuple[list[Task], Stamp]:
    """Return the tenant's tasks, and when the last of them was submitted."""
    tasks = [task for task in evidence.tasks.values() if task.ref.tenant == tenant]
    return tasks, max((task.submitted for task in tasks), default=Stamp(0, 0))
