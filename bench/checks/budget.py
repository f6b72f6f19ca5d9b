"""The promises about budgets and windows of starts."""

from dataclasses import dataclass

from pydantic import JsonValue

from bench.checks.verdict import verdict
from bench.figures import BudgetUse, BurstRun
from bench.results import Check, Metrics
from bench.scenario import Scenario
from bench.scenario_controls import Side


@dataclass(frozen=True)
class RaceEnds:
    """The race for a budget ends exactly like this, whatever the number of contenders on the repaired side."""

    side: Side
    accepted: int
    remaining: int
    admitted: float
    ledger: float

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        sides = [each for each in metrics.budget_race or [] if each.side == self.side]
        passed = bool(sides) and all(
            (each.accepted, each.rejected) == (self.accepted, each.contenders - self.accepted)
            and each.contenders > 1
            and each.use.remaining == self.remaining
            and (each.use.admitted_share, each.use.ledger_share) == (self.admitted, self.ledger)
            for each in sides
        )
        observed: dict[str, JsonValue] = {
            f"{each.contenders} contenders": f"{each.accepted} accepted, {each.use.remaining} left, "
            f"{each.use.admitted_share:.0%} admitted, {each.use.ledger_share:.0%} in the ledger"
            for each in sides
        }
        return verdict(
            f"{self.side}: how the race ends",
            passed,
            observed,
            f"{self.accepted} accepted, {self.remaining} left, {self.admitted:.0%} admitted, "
            f"{self.ledger:.0%} in the ledger",
        )


@dataclass(frozen=True)
class RefusedForTheBudget:
    """Who got nothing was told why."""

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        sides = [each for each in metrics.budget_race or [] if each.side == "repaired"]
        passed = bool(sides) and all(
            each.answers == {"completed": each.accepted, "budget_exhausted": each.contenders - each.accepted}
            for each in sides
        )
        observed: dict[str, JsonValue] = {f"{each.contenders} contenders": {**each.answers} for each in sides}
        return verdict("what each contender was told", passed, observed, "completed, or `budget_exhausted`")


@dataclass(frozen=True)
class NeverOverspent:
    """After no event was more held and spent than the limit, and the ledger says what the events do."""

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        uses = [each.use for each in metrics.bursts or []]
        uses += [each.use for each in metrics.budget_race or [] if each.side == "repaired"]
        return verdict(
            "held and spent never above the limit",
            bool(uses) and all(_kept(use) for use in uses),
            [f"at most {use.most_promised} of {use.limit}" for use in uses],
            "at no event above the limit; ledger and events agree",
        )


def _kept(use: BudgetUse) -> bool:
    return (
        use.most_promised is not None
        and 0 < use.most_promised <= use.limit
        and use.by_events == use.held + use.spent > 0
    )


@dataclass(frozen=True)
class AllPaidFor:
    """Every task of each burst completed, and the budget is used to the last unit."""

    tasks: int

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        runs = metrics.bursts or []
        passed = bool(runs) and all(
            each.tasks == each.completed == self.tasks and each.use.admitted_share == each.use.ledger_share == 1
            for each in runs
        )
        observed: dict[str, JsonValue] = {
            label(each): f"{each.completed} of {each.tasks}; {each.use.admitted_share:.0%} admitted, "
            f"{each.use.ledger_share:.0%} in the ledger"
            for each in runs
        }
        return verdict("every task completes", passed, observed, f"{self.tasks} each; 100% admitted and in the ledger")


@dataclass(frozen=True)
class WorkersShare:
    """So many workers started tasks of each burst."""

    count: int

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        runs = metrics.bursts or []
        passed = bool(runs) and all(len(each.workers) == self.count for each in runs)
        observed: dict[str, JsonValue] = {label(each): [*each.workers.values()] for each in runs}
        return verdict("workers used", passed, observed, f"exactly {self.count} with starts")


@dataclass(frozen=True)
class UrgentHandedFirst:
    """No task was handed to a worker before all were submitted, nor before a more urgent one: as the store decides."""

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        runs = metrics.bursts or []
        passed = bool(runs) and all(len(each.starts_by_priority) > 1 and not each.handed_too_early for each in runs)
        observed: dict[str, JsonValue] = {
            label(each): ", ".join(each.handed_too_early) or "none too early" for each in runs
        }
        return verdict("urgent tasks are handed over first", passed, observed, "no other task before the last of them")


@dataclass(frozen=True)
class UrgentFirst:
    """No task started before all were submitted, nor before a more urgent one.

    Without a window two tasks may be handed to two workers at once, by a dispatcher that was late. Which of the two
    asks first is then up to them, and it is no fault if that is the one with the less urgent task.
    """

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        runs = metrics.bursts or []
        passed = bool(runs) and all(
            len(each.starts_by_priority) > 1 and not (each.overtook if each.window is None else each.too_early)
            for each in runs
        )
        observed: dict[str, JsonValue] = {label(each): _order(each) for each in runs}
        return verdict(
            "urgent tasks start first",
            passed,
            observed,
            "no other task starts before the last of them; without a window: unless that is with another worker",
        )


def _order(run: BurstRun) -> str:
    """Say who started too early, and who did only because its worker asked before another one."""
    sooner = [f"{each} (its worker asked sooner)" for each in run.too_early if each not in run.overtook]
    return ", ".join([*run.overtook, *sooner]) or "none too early"


@dataclass(frozen=True)
class WindowKept:
    """Under the window no start comes sooner than it allows; without it one does, so it was the window."""

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        runs = metrics.bursts or []
        under = [each for each in runs if each.window is not None]
        without = [each for each in runs if each.window is None]
        passed = (
            bool(under)
            and bool(without)
            and all(each.closest_ms is not None and each.closest_ms >= each.interval_ms for each in under)
            and all(each.closest_ms is not None and each.closest_ms < each.interval_ms for each in without)
        )
        observed: dict[str, JsonValue] = {
            label(each): f"{each.closest_ms:g} ms, as the workers saw it {each.closest_seen_ms:g} ms"
            if each.closest_ms is not None and each.closest_seen_ms is not None
            else None
            for each in runs
        }
        interval = f"{under[0].interval_ms:,} ms" if under else "the interval"
        return verdict(
            "from a start to the first beyond the limit", passed, observed, f"≥ {interval}; sooner without it"
        )


@dataclass(frozen=True)
class PoolFilled:
    """Without a window the pool's slots are all used and never more, although the workers could run more."""

    slots: int

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        runs = [each for each in metrics.bursts or [] if each.window is None]
        passed = bool(runs) and all(each.peak_active == self.slots < each.could_run for each in runs)
        observed = [f"{each.peak_active} of {each.could_run} the workers could run" for each in runs]
        return verdict("most tasks at once", passed, [*observed], f"exactly {self.slots}")


def label(run: BurstRun) -> str:
    """Name a burst by what it ran under."""
    return "without a window" if run.window is None else run.window
