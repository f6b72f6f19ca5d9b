"""The promises about budgets and windows of starts."""

from dataclasses import dataclass

from pydantic import JsonValue

from bench.budget.metrics import BudgetMetrics, BudgetRaceMetrics, BudgetRaceSide, BurstRun, Side
from bench.shared.budget_use import BudgetUse
from bench.shared.checks import Each, Promise, verdict
from bench.shared.metrics import Check

RaceMetrics = BudgetMetrics | BudgetRaceMetrics
EachBurst = Each[BudgetMetrics, BurstRun]


def label(run: BurstRun) -> str:
    """Name a burst by its window."""
    return run.window or "without a window"


def _bursts(metrics: BudgetMetrics) -> dict[str, BurstRun]:
    return {label(each): each for each in metrics.bursts}


def _sides(metrics: RaceMetrics, side: Side) -> dict[str, BudgetRaceSide]:
    return {f"{each.contenders} contenders": each for each in metrics.budget_race if each.side == side}


@dataclass(frozen=True)
class RaceEnds:
    """The race for a budget ends exactly like this, on the repaired side for every number of contenders."""

    side: Side
    accepted: int
    remaining: int
    admitted: float
    ledger: float

    @property
    def name(self) -> str:
        """See ``CheckSpec``."""
        return f"{self.side}: how the race ends"

    def judge(self, scenario: object, metrics: RaceMetrics) -> Check:
        """See ``CheckSpec``."""
        del scenario
        sides = _sides(metrics, self.side)
        observed: dict[str, JsonValue] = {
            contenders: f"{each.accepted} accepted, {each.use.remaining} left, "
            f"{each.use.admitted_share:.0%} admitted, {each.use.ledger_share:.0%} in the ledger"
            for contenders, each in sides.items()
        }
        return verdict(
            self.name,
            bool(sides) and all(self._ends_so(each) for each in sides.values()),
            observed,
            f"{self.accepted} accepted, {self.remaining} left, {self.admitted:.0%} admitted, "
            f"{self.ledger:.0%} in the ledger",
        )

    def _ends_so(self, side: BudgetRaceSide) -> bool:
        return (
            (side.accepted, side.rejected) == (self.accepted, side.contenders - self.accepted)
            and side.contenders > 1
            and side.use.remaining == self.remaining
            and (side.use.admitted_share, side.use.ledger_share) == (self.admitted, self.ledger)
        )


REFUSED_FOR_THE_BUDGET = Each[RaceMetrics, BudgetRaceSide](
    "what each contender was told",
    lambda m: _sides(m, "repaired"),
    lambda side: side.answers == {"completed": side.accepted, "budget_exhausted": side.contenders - side.accepted},
    lambda side: {**side.answers},
    "completed, or `budget_exhausted`",
)


def _repaired_uses(metrics: RaceMetrics) -> list[BudgetUse]:
    bursts = metrics.bursts if isinstance(metrics, BudgetMetrics) else []
    return [each.use for each in bursts] + [each.use for each in _sides(metrics, "repaired").values()]


def _kept(use: BudgetUse) -> bool:
    return (
        use.most_promised is not None
        and 0 < use.most_promised <= use.limit
        and use.by_events == use.held + use.spent > 0
    )


NEVER_OVERSPENT = Promise[RaceMetrics](
    "held and spent never above the limit",
    lambda m: bool(_repaired_uses(m)) and all(_kept(use) for use in _repaired_uses(m)),
    lambda m: [f"at most {use.most_promised} of {use.limit}" for use in _repaired_uses(m)],
    "at no event above the limit; ledger and events agree",
)


def all_paid_for(tasks: int) -> EachBurst:
    """Every task of each burst completes, and the budget is used to the last unit."""
    return EachBurst(
        "every task completes",
        _bursts,
        lambda run: run.tasks == run.completed == tasks and run.use.admitted_share == run.use.ledger_share == 1,
        lambda run: (
            f"{run.completed} of {run.tasks}; {run.use.admitted_share:.0%} admitted, "
            f"{run.use.ledger_share:.0%} in the ledger"
        ),
        f"{tasks} each; 100% admitted and in the ledger",
    )


def workers_share(count: int) -> EachBurst:
    """``count`` workers start tasks of each burst."""
    return EachBurst(
        "workers used",
        _bursts,
        lambda run: len(run.workers) == count,
        lambda run: [*run.workers.values()],
        f"exactly {count} with starts",
    )


URGENT_HANDED_FIRST = EachBurst(
    "urgent tasks are handed over first",
    _bursts,
    lambda run: len(run.starts_by_priority) > 1 and not run.handed_too_early,
    lambda run: ", ".join(run.handed_too_early) or "none too early",
    "no other task before the last of them",
)
"""No task is handed to a worker before all are submitted, nor before a more urgent one: as the store decides."""


def _order(run: BurstRun) -> str:
    """Name the tasks that started too early, and those that did only because their worker asked before another."""
    sooner = [f"{each} (its worker asked sooner)" for each in run.too_early if each not in run.overtook]
    return ", ".join([*run.overtook, *sooner]) or "none too early"


URGENT_START_FIRST = EachBurst(
    "urgent tasks start first",
    _bursts,
    lambda run: len(run.starts_by_priority) > 1 and not (run.overtook if run.window is None else run.too_early),
    _order,
    "no other task starts before the last of them; without a window: unless that is with another worker",
)
"""No task starts before all are submitted, nor before a more urgent one.

Without a window a late dispatcher may hand two tasks to two workers at once. The workers decide which of them asks
first, and it is no fault if that is the worker with the less urgent task.
"""


def _apart(run: BurstRun) -> str | None:
    if run.closest_ms is None or run.closest_seen_ms is None:
        return None
    return f"{run.closest_ms:g} ms, as the workers saw it {run.closest_seen_ms:g} ms"


def _with_window_and_without(metrics: BudgetMetrics) -> dict[str, BurstRun]:
    both = {each.window is None for each in metrics.bursts} == {True, False}
    return _bursts(metrics) if both else {}


def window_kept(interval_ms: int) -> EachBurst:
    """Under the window no start comes sooner than it allows; without it one does, so it was the window."""
    return EachBurst(
        "from a start to the first beyond the limit",
        _with_window_and_without,
        lambda run: run.closest_ms is not None and (run.closest_ms >= run.interval_ms) is (run.window is not None),
        _apart,
        f"≥ {interval_ms:,} ms; sooner without it",
    )


def pool_filled(slots: int) -> Promise[BudgetMetrics]:
    """Without a window the pool's slots are all used and never more, although the workers could run more."""

    def free(metrics: BudgetMetrics) -> list[BurstRun]:
        return [each for each in metrics.bursts if each.window is None]

    return Promise(
        "most tasks at once",
        lambda m: bool(free(m)) and all(each.peak_active == slots < each.could_run for each in free(m)),
        lambda m: [f"{each.peak_active} of {each.could_run} the workers could run" for each in free(m)],
        f"exactly {slots}",
    )
