"""The promises about a dispatcher that is killed."""

from dataclasses import dataclass

from bench.checks.verdict import verdict
from bench.results import Check, Metrics
from bench.scenario import Scenario


@dataclass(frozen=True)
class NaiveLosesOne:
    """The failure is real: what was reserved and not handed over stays held, and nobody can go on."""

    slots: int
    cost: int

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        left = metrics.naive_handoff
        passed = (
            left is not None
            and len(left.orphans) == 1
            and (left.slots, left.cost, left.handed_over) == (self.slots, self.cost, 0)
            and left.next_says == "no slot is free"
        )
        observed = None
        if left is not None:
            orphans = ", ".join(left.orphans) or "none"
            observed = f"orphan {orphans}; held: {left.slots} slot, {left.cost} cost; the next one: {left.next_says}"
        return verdict(
            "naive: an orphan keeps its slot",
            passed,
            observed,
            f"one orphan; {self.slots} slot and {self.cost} cost stay held; no slot is free",
        )


@dataclass(frozen=True)
class KilledAtWork:
    """Each kill hit another process, one that had handed tasks over while others waited."""

    kills: int

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        found = metrics.handoff
        passed = (
            found is not None
            and found.kills == found.processes == self.kills
            and len(found.handed_over_before) == len(found.unended_at) == self.kills
            and min(found.handed_over_before) > 0
            and min(found.unended_at) > 0
        )
        observed = None
        if found is not None:
            observed = (
                f"{found.kills} kills of {found.processes} processes; hand-overs before each: "
                f"{' '.join(str(count) for count in found.handed_over_before)}"
            )
        return verdict("killed at work", passed, observed, f"{self.kills} of as many processes, each after hand-overs")


@dataclass(frozen=True)
class AllCompleteOnce:
    """Every task completed in its only attempt, and the client has its result."""

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        found = metrics.handoff
        passed = (
            found is not None
            and found.tasks > 0
            and found.tasks == found.completed == found.results
            and found.attempts == {"completed": found.tasks}
        )
        observed = None
        if found is not None:
            attempts = ", ".join(f"{count} {state}" for state, count in found.attempts.items())
            observed = f"{found.completed} of {found.tasks}, {found.results} results; attempts: {attempts}"
        return verdict("every task completes, once", passed, observed, "as many as were submitted")
