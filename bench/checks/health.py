"""The promises about workers that fail: taken out in time, nothing lost, back when they are well."""

from collections.abc import Mapping
from dataclasses import dataclass

from bench.checks.verdict import verdict
from bench.results import Check, Metrics
from bench.scenario import Scenario
from fairlane.workers import CheckOutcome

_OUTCOMES = {"ill": CheckOutcome.UNHEALTHY.value, "stuck": CheckOutcome.TIMEOUT.value}
"""How the checks of a worker end, by the way in which it fails."""
_WAYS = [*_OUTCOMES]


@dataclass(frozen=True)
class OutAtThreshold:
    """A worker is taken out by as many failed checks in a row as the threshold says.

    Those of one that is ill are answered, those of one that is stuck time out.
    """

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        found = metrics.pool_health
        outages = [] if found is None else found.outages
        passed = (
            found is not None
            and [each.how for each in outages] == _WAYS
            and all(
                each.failed_checks == {_OUTCOMES[each.how]: found.failure_threshold} and each.out_after_ms is not None
                for each in outages
            )
        )
        observed = {f"{each.worker}, {each.how}": f"out after {_told(each.failed_checks)}" for each in outages}
        threshold = "as many as the threshold" if found is None else str(found.failure_threshold)
        expected = ", ".join(f"{how}: exactly {threshold} {outcome}" for how, outcome in _OUTCOMES.items())
        return verdict("out at the threshold", passed, {**observed} if observed else None, expected)


def _told(checks: Mapping[str, int]) -> str:
    """Name how many checks ended how."""
    return ", ".join(f"{count} {outcome}" for outcome, count in checks.items()) or "none"


@dataclass(frozen=True)
class NoneBesideOneThatHangs:
    """While a check hangs there is no second one of the same worker."""

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        found = metrics.pool_health
        begun = [each.checks_begun for each in found.outages if each.how == "stuck"] if found else []
        return verdict("one check of a worker at a time", begun == [1], [*begun] or None, "1 begun while it hung")


@dataclass(frozen=True)
class MovedElsewhere:
    """What ran on a worker that was taken out was completed by another one, and something ran on each."""

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        outages = [] if metrics.pool_health is None else metrics.pool_health.outages
        passed = [each.how for each in outages] == _WAYS and all(each.moved == each.running > 0 for each in outages)
        observed = {f"{each.worker}, {each.how}": f"{each.moved} of {each.running}" for each in outages}
        return verdict(
            "its tasks completed elsewhere",
            passed,
            {**observed} if observed else None,
            "all that ran there; at least 1 on each",
        )


@dataclass(frozen=True)
class AnsweredOnce:
    """Each caller has the one right result of its task, and no task took more attempts than allowed.

    Work that ends in the moment in which its worker is taken out may have been lost, and so is done again elsewhere.
    """

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        found = metrics.pool_health
        expected = "all; some in 2 attempts or more, none in more than 1 + the retries allowed"
        if found is None or not found.attempts:
            return verdict("every task answered once", False, None, expected)
        most = max(int(number) for number in found.attempts)
        passed = (
            0 < found.tasks == found.completed
            and not found.errors
            and 1 < most <= 1 + found.retries
            and sum(found.attempts.values()) == found.tasks
        )
        attempts = ", ".join(f"{count} in {number}" for number, count in found.attempts.items())
        errors = "; ".join(found.errors) or "none"
        observed = f"{found.completed} of {found.tasks}; attempts: {attempts}; errors: {errors}"
        return verdict("every task answered once", passed, observed, expected)


@dataclass(frozen=True)
class BackWhenWell:
    """A worker comes back after its restart and as many good checks as the threshold says, and not before."""

    tasks: int

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        found = metrics.pool_health
        outages = [] if found is None else found.outages
        passed = (
            found is not None
            and [each.how for each in outages] == _WAYS
            and all(
                each.restarts > 0
                and each.good_checks == found.success_threshold
                and each.early == 0
                and each.tasks_after >= self.tasks
                for each in outages
            )
        )
        observed = {
            f"{each.worker}, {each.how}": f"{each.restarts} restarts, {each.good_checks} good checks; "
            f"{each.early} tasks before, {each.tasks_after} after"
            for each in outages
        }
        good = "as many good checks as the threshold" if found is None else f"{found.success_threshold} good checks"
        return verdict(
            "back when well",
            passed,
            {**observed} if observed else None,
            f"a restart; {good}; 0 tasks before, ≥ {self.tasks} after",
        )


@dataclass(frozen=True)
class OthersChecked:
    """A check that hangs does not hold up those of other workers."""

    least: float
    """Part of what the worker had in so much time before."""
    most: float
    """Part of what the interval says."""

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        found = [] if metrics.pool_health is None else metrics.pool_health.bystanders
        passed = bool(found) and all(
            0 < self.least * each.usual <= each.checks <= self.most * each.expected for each in found
        )
        return verdict(
            "others are checked meanwhile",
            passed,
            {each.worker: f"{each.checks} checks; usual {each.usual:g}, due {each.expected:g}" for each in found}
            or None,
            f"≥ {self.least:g} of what is usual, ≤ {self.most:g} of what is due",
        )
