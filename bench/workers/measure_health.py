"""The figures of tasks and workers while workers failed, from the journal."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from bench.workers.journal import Answer, Journal, Moment, errors_of
from bench.workers.metrics import Bystander, Health, Outage
from bench.workers.scenario import HealthScenario
from fairlane.workers import CheckOutcome


def health(scenario: HealthScenario, journal: Journal, answers: Sequence[Answer]) -> Health:
    """Compute the figures.

    Raises:
        ValueError: nothing happened to a worker that should have failed.
    """
    done = Counter(each.task for each in journal.entries if each.moment is Moment.DONE)
    attempts = Counter(len(each.workers) for each in answers)
    return Health(
        tasks=len(answers),
        completed=sum(each.right for each in answers),
        errors=errors_of(answers),
        retries=scenario.retries,
        attempts={str(number): count for number, count in sorted(attempts.items())},
        done_again=sorted(task for task, count in done.items() if count > 1),
        failure_threshold=scenario.health.failure_threshold,
        success_threshold=scenario.health.success_threshold,
        outages=[outage(journal, scenario.ill, "ill"), outage(journal, scenario.stuck, "stuck")],
        bystanders=[_bystander(scenario, journal, each) for each in scenario.bystanders],
    )


def outage(journal: Journal, worker: str, how: Literal["ill", "stuck"]) -> Outage:
    """Compute how a worker was taken out and came back. It had one trouble.

    Raises:
        ValueError: it had none.
    """
    start = _first(journal, worker, Moment.TROUBLE)
    if start is None:
        raise ValueError(f"nothing happened to {worker}")
    end = _first(journal, worker, Moment.RELIEF, start)
    out = _first(journal, worker, Moment.FAILED, start)
    back = None if out is None else _first(journal, worker, Moment.REPORT, out, healthy=True)
    running = set() if out is None else _running(journal, worker, out)
    elsewhere = {each.task for each in journal.entries if each.moment is Moment.DONE and each.worker != worker}
    report = None if back is None else journal.entries[back].report
    return Outage(
        worker=worker,
        how=how,
        failed_checks=_failed_checks(journal, worker, start, out),
        checks_begun=_count(journal, worker, Moment.CHECK, start, end),
        out_after_ms=_between_ms(journal, start, out),
        running=len(running),
        moved=len(running & elsewhere),
        restarts=0 if out is None else _count(journal, worker, Moment.LIVES, out, back),
        good_checks=None if report is None else report.successes,
        back_after_ms=_between_ms(journal, end, back),
        early=0 if out is None else _count(journal, worker, Moment.BEGUN, out, back),
        tasks_after=0 if back is None else _count(journal, worker, Moment.DONE, back, None),
    )


def _first(
    journal: Journal, worker: str, moment: Moment, after: int = -1, *, healthy: bool | None = None
) -> int | None:
    """Return the place of the first such entry; ``healthy``: of a report that says so."""
    return next(
        (
            place
            for place, each in enumerate(journal.entries)
            if place > after
            and (each.worker, each.moment) == (worker, moment)
            and (healthy is None or (each.report is not None and each.report.healthy is healthy))
        ),
        None,
    )


def _count(journal: Journal, worker: str, moment: Moment, after: int, until: int | None) -> int:
    """Count such entries between two places; None: up to the end."""
    return sum((each.worker, each.moment) == (worker, moment) for each in journal.entries[after + 1 : until])


def _failed_checks(journal: Journal, worker: str, start: int, out: int | None) -> dict[str, int]:
    """Count the failed checks from the beginning of the trouble until the worker was taken out; None: up to the end."""
    found = Counter(
        each.report.outcome.value
        for each in journal.entries[start:out]
        if each.worker == worker and each.report is not None and each.report.outcome is not CheckOutcome.HEALTHY
    )
    return dict(sorted(found.items()))


def _running(journal: Journal, worker: str, place: int) -> set[str]:
    """Return what a worker was executing at a place, of what began since it was started last."""
    running: set[str] = set()
    for each in journal.entries[:place]:
        if each.worker == worker:
            match each.moment:
                case Moment.LIVES:
                    running.clear()
                case Moment.BEGUN:
                    running.add(each.task)
                case Moment.DONE:
                    running.discard(each.task)
                case _:
                    pass
    return running


def _between_ms(journal: Journal, first: int | None, last: int | None) -> float | None:
    if first is None or last is None:
        return None
    return round((journal.entries[last].at_s - journal.entries[first].at_s) * 1000, 1)


def _bystander(scenario: HealthScenario, journal: Journal, worker: str) -> Bystander:
    """Count a worker's checks while the other one's hung."""
    start = _first(journal, scenario.stuck, Moment.TROUBLE)
    end = _first(journal, scenario.stuck, Moment.RELIEF)
    if start is None or end is None:
        raise ValueError(f"no check of {scenario.stuck} hung")
    begun_s, hangs_s, ends_s = (journal.entries[place].at_s for place in (0, start, end))
    before = _count(journal, worker, Moment.CHECK, -1, start)
    return Bystander(
        worker=worker,
        checks=_count(journal, worker, Moment.CHECK, start, end),
        expected=round((ends_s - hangs_s) * 1000 / scenario.health.interval_ms, 1),
        usual=round(before * (ends_s - hangs_s) / (hangs_s - begun_s), 1),
    )
