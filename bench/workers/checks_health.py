"""The promises about workers that fail: taken out in time, no task lost, back when they are healthy."""

from collections.abc import Callable, Mapping

from pydantic import JsonValue

from bench.shared.checks import Each, Promise
from bench.workers.metrics import Bystander, Health, HealthMetrics, Outage
from fairlane.workers import CheckOutcome

Failing = Promise[HealthMetrics]

_OUTCOMES = {"ill": CheckOutcome.UNHEALTHY.value, "stuck": CheckOutcome.TIMEOUT.value}
"""The outcome of a worker's checks, by its trouble."""


def _both(holds: Callable[[Outage, Health], bool]) -> Callable[[HealthMetrics], bool]:
    """Ask for both outages, the ill worker's and the stuck one's."""

    def asked(metrics: HealthMetrics) -> bool:
        outages = metrics.health.outages
        return [each.how for each in outages] == [*_OUTCOMES] and all(holds(each, metrics.health) for each in outages)

    return asked


def _shown(show: Callable[[Outage], str]) -> Callable[[HealthMetrics], JsonValue]:
    return lambda m: {f"{each.worker}, {each.how}": show(each) for each in m.health.outages}


def _failures(checks: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {outcome}" for outcome, count in checks.items()) or "none"


OUT_AT_THRESHOLD = Failing(
    "out at the threshold",
    _both(
        lambda outage, health: (
            outage.failed_checks == {_OUTCOMES[outage.how]: health.failure_threshold}
            and outage.out_after_ms is not None
        )
    ),
    _shown(lambda outage: f"out after {_failures(outage.failed_checks)}"),
    lambda m: ", ".join(f"{how}: exactly {m.health.failure_threshold} {outcome}" for how, outcome in _OUTCOMES.items()),
)
"""A worker is taken out by as many failed checks in a row as the threshold says.

Checks of the ill worker are answered, those of the stuck one time out.
"""

ONE_CHECK_AT_A_TIME = Failing(
    "one check of a worker at a time",
    lambda m: [each.checks_begun for each in m.health.outages if each.how == "stuck"] == [1],
    lambda m: [each.checks_begun for each in m.health.outages if each.how == "stuck"],
    "1 begun while it hung",
)
"""While a check hangs there is no second one of the same worker."""

MOVED_ELSEWHERE = Failing(
    "its tasks completed elsewhere",
    _both(lambda outage, _: outage.moved == outage.running > 0),
    _shown(lambda outage: f"{outage.moved} of {outage.running}"),
    "all that ran there; at least 1 on each",
)


def _answered_once(found: Health) -> bool:
    most = max((int(number) for number in found.attempts), default=0)
    return (
        0 < found.tasks == found.completed
        and not found.errors
        and 1 < most <= 1 + found.retries
        and sum(found.attempts.values()) == found.tasks
    )


def _answers(found: Health) -> str:
    attempts = ", ".join(f"{count} in {number}" for number, count in found.attempts.items())
    return f"{found.completed} of {found.tasks}; attempts: {attempts}; errors: {'; '.join(found.errors) or 'none'}"


ANSWERED_ONCE = Failing(
    "every task answered once",
    lambda m: _answered_once(m.health),
    lambda m: _answers(m.health),
    "all; some in 2 attempts or more, none in more than 1 + the retries allowed",
)
"""Each caller has the one right result of its task, and no task took more attempts than allowed.

Work that ends in the moment in which its worker is taken out may be lost, and is then done again elsewhere.
"""


def back_when_well(tasks: int) -> Failing:
    """A worker comes back after its restart and as many good checks as the threshold says, and not before."""
    return Failing(
        "back when well",
        _both(
            lambda outage, health: (
                outage.restarts > 0
                and outage.good_checks == health.success_threshold
                and outage.early == 0
                and outage.tasks_after >= tasks
            )
        ),
        _shown(
            lambda outage: (
                f"{outage.restarts} restarts, {outage.good_checks} good checks; "
                f"{outage.early} tasks before, {outage.tasks_after} after"
            )
        ),
        lambda m: f"a restart; {m.health.success_threshold} good checks; 0 tasks before, ≥ {tasks} after",
    )


def others_checked(least: float, most: float) -> Each[HealthMetrics, Bystander]:
    """A check that hangs does not delay the checks of other workers.

    ``least``: part of the checks that the worker had in the same time before; ``most``: part of those due by the
    interval.
    """
    return Each(
        "others are checked meanwhile",
        lambda m: {each.worker: each for each in m.health.bystanders},
        lambda each: 0 < least * each.usual <= each.checks <= most * each.expected,
        lambda each: f"{each.checks} checks; usual {each.usual:g}, due {each.expected:g}",
        f"≥ {least:g} of what is usual, ≤ {most:g} of what is due",
    )
